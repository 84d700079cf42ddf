! A common block of each thread, copied in and kept between regions.
program common_block
    use omp_lib
    implicit none
    integer :: kept, seed, step, total, threads
    common /state/ kept, seed
    !$omp threadprivate(/state/)
    total = 0
    threads = omp_get_max_threads()
    !$omp parallel
    kept = 0
    !$omp end parallel
    do step = 1, 60
        seed = step
        !$omp parallel copyin(seed)
        kept = kept + seed
        !$omp end parallel
    end do
    !$omp parallel reduction(+:total)
    total = total + kept
    !$omp end parallel
    if (total /= 1830 * threads) stop 1
    print '(i0)', total
end program
