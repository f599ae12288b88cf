/* The few library functions that a kernel without a library needs. */
#include "kernel.h"

size_t strlen(const char *s)
{
    size_t n = 0;

    while ( s[n] )
        ++n;
    return n;
}

int strncmp(const char *a, const char *b, size_t n)
{
    for ( ; n; --n, ++a, ++b )
        if ( *a != *b || !*a )
            return *a - *b;
    return 0;
}

const char *strstr(const char *haystack, const char *needle)
{
    size_t n = strlen(needle);

    for ( ; *haystack; ++haystack )
        if ( !strncmp(haystack, needle, n) )
            return haystack;
    return NULL;
}

void *memset(void *s, int c, size_t n)
{
    void *d = s;

    asm volatile ( "rep stosb" : "+D" (d), "+c" (n) : "a" (c) : "memory" );
    return s;
}

void *memcpy(void *dst, const void *src, size_t n)
{
    void *d = dst;

    asm volatile ( "rep movsb" : "+D" (d), "+S" (src), "+c" (n) :: "memory" );
    return dst;
}

/* printf() with %c %s %d %u %x and the l of %ld, %lu, %lx. */
unsigned int vformat(char *buf, size_t size, const char *fmt,
                     __builtin_va_list args)
{
    size_t len = 0;

#define PUT(c) do { if ( len + 1 < size ) buf[len++] = (c); } while ( 0 )

    for ( ; *fmt; ++fmt )
    {
        char digits[20];
        unsigned int n = 0, base = 10;
        bool is_long = false;
        uint64_t val;
        const char *s;

        if ( *fmt != '%' )
        {
            PUT(*fmt);
            continue;
        }

        if ( *++fmt == 'l' )
        {
            is_long = true;
            ++fmt;
        }

        switch ( *fmt )
        {
        case 'c':
            PUT(__builtin_va_arg(args, int));
            continue;
        case 's':
            for ( s = __builtin_va_arg(args, const char *); *s; ++s )
                PUT(*s);
            continue;
        case 'd':
            val = is_long ? __builtin_va_arg(args, long)
                          : __builtin_va_arg(args, int);
            if ( (int64_t)val < 0 )
            {
                PUT('-');
                val = -val;
            }
            break;
        case 'x':
            base = 16;
            /* Fallthrough */
        case 'u':
            val = is_long ? __builtin_va_arg(args, unsigned long)
                          : __builtin_va_arg(args, unsigned int);
            break;
        default:
            PUT(*fmt);
            continue;
        }

        do {
            digits[n++] = "0123456789abcdef"[val % base];
            val /= base;
        } while ( val );

        while ( n )
            PUT(digits[--n]);
    }
#undef PUT

    buf[len] = 0;
    return len;
}

unsigned int sformat(char *buf, size_t size, const char *fmt, ...)
{
    __builtin_va_list args;
    unsigned int len;

    __builtin_va_start(args, fmt);
    len = vformat(buf, size, fmt, args);
    __builtin_va_end(args);

    return len;
}
