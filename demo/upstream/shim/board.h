/* What upstream's demo declares about its board's start-up, as far as it defines it itself. */
#ifndef SHIM_BOARD_H
#define SHIM_BOARD_H
void bsp_main(void);
void bsp_done(void);
#endif
