package policy

import (
	"sync"
	"testing"
)

func BenchmarkFirstIgnored(b *testing.B) {
	for range b.N {
		prefix, endless = sync.OnceValue(compilePrefix), sync.OnceValue(compileEndless)
		Policy{}.Ignored("sleep 45; echo DONE")
	}
}
