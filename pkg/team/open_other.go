//go:build !unix

package team

// nonblock has no meaning where no folder holds pipes.
const nonblock = 0
