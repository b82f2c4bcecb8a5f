/* The console that upstream's demo asks for; src/main.rs has it on the board's own UART. */
#ifndef SHIM_LINFLEXD_H
#define SHIM_LINFLEXD_H
unsigned int linflexd_init(void);
void linflexd_putc(char c);
void linflexd_puts(const char *text);
void linflexd_put_hex32(unsigned int value);
#endif
