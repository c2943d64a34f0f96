//go:build !linux

package host

import (
	"context"
	"os"
)

const awaits = false

func gone(ctx context.Context, _ *os.File, _ []int) (context.Context, bool) { return ctx, false }
