"""The headers that compilers and systems bring: a file of the tree that is called so is seldom meant."""

from __future__ import annotations

_NAMES = """
assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg
stdatomic stdbit stdbool stdckdint stddef stdint stdio stdlib stdnoreturn string tgmath threads time
uchar wchar wctype
aio alloca byteswap cpuid crypt dirent dlfcn elf endian err execinfo fcntl features fmtmsg fnmatch ftw
getopt glob grp iconv ifaddrs immintrin intrin io ioctl langinfo libgen libintl link malloc memory mntent
monetary mqueue ndbm netdb nl_types paths poll process pthread pty pwd regex resolv sched search semaphore
shadow spawn strings stropts sysexits syslog tar termio termios tirpc ucontext ulimit unistd utime utmp
utmpx values wait wordexp x86intrin xmmintrin emmintrin pmmintrin tmmintrin smmintrin nmmintrin arm_neon
windows winsock winsock2 ws2tcpip ws2def winbase windef winnt winternl direct shellapi shlobj tchar wincrypt
"""
STANDARD = frozenset(f"{name}.h" for name in _NAMES.split())

SYSTEM = ("sys/", "bits/", "asm/", "arpa/", "net/", "netinet/", "linux/", "mach/", "rpc/", "gnu/")
"""Folders of a system's headers."""


def is_standard(name: str) -> bool:
    """Whether a name between angle brackets is most likely not of the tree. C++'s own have no
    ending and no folder."""
    return name in STANDARD or name.startswith(SYSTEM) or ("." not in name and "/" not in name)
