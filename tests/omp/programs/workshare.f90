! Array statements shared out, sections, and a program that ends by STOP with a status.
program workshares
    implicit none
    integer, parameter :: length = 400, steps = 30
    integer :: step
    integer(8) :: a(length), b(length), one, two
    logical :: mask(length)
    a = [(step, step = 1, length)]
    one = 0; two = 0
    do step = 1, steps
        !$omp parallel workshare
        b = a * 2
        mask = mod(b, 3_8) == 0
        where (mask) a = a + 1
        !$omp end parallel workshare
        !$omp parallel sections
        !$omp section
        one = one + sum(a)
        !$omp section
        two = two + maxval(b)
        !$omp end parallel sections
    end do
    if (any(b < 0)) stop 1
    print '(i0,1x,i0)', one, two
    stop 4
end program
