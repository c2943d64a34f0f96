package policy

import "testing"

func BenchmarkIgnored(b *testing.B) {
	for range b.N {
		Policy{}.Ignored("sleep 45; echo DONE")
	}
}
