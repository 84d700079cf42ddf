/* A program without OpenMP: all that it takes is its beginning and its end. */
int main(void) { return 0; }
