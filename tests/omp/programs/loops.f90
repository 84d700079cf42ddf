! Loops, reductions and regions of a program in Fortran, with a hoisted time loop.
program loops
    implicit none
    integer, parameter :: length = 500, steps = 40
    integer :: i, j, step, last
    integer(8) :: total, most
    real(8) :: x(length), y(length), norm
    total = 0; most = 0; norm = 0; last = 0
    do step = 1, steps
        !$omp parallel do reduction(+:total) reduction(max:most) lastprivate(last)
        do i = 1, length
            total = total + i * step
            most = max(most, int(i, 8) * step)
            last = i
        end do
        !$omp parallel do schedule(dynamic, 8) private(j)
        do i = length, 1, -1
            x(i) = 0
            do j = 1, 5
                x(i) = x(i) + j * i
            end do
        end do
    end do
    !$omp parallel
    do step = 1, steps
        !$omp do schedule(static)
        do i = 1, length
            y(i) = 0.5d0 * x(i)
        end do
        !$omp end do nowait
        !$omp do schedule(static)
        do i = 1, length
            x(i) = y(i) + 1
        end do
        !$omp end do
        !$omp single
        norm = 0
        !$omp end single
        !$omp do reduction(+:norm) collapse(2)
        do i = 1, length / 10
            do j = 1, 10
                norm = norm + anint(x((i - 1) * 10 + j))
            end do
        end do
        !$omp end do
    end do
    !$omp end parallel
    if (last /= length .or. most /= length * steps) stop 1
    print '(i0,1x,i0,1x,f0.3)', total, most, norm
end program
