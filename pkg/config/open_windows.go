package config

const nonblocking = 0
