package command

import (
	"strings"
	"testing"
)

func BenchmarkJudge(b *testing.B) {
	for name, text := range map[string]string{"build": "npm run build 2>&1 | tail -30", "sleep": "sleep 45; echo DONE", "five hundred": strings.Repeat("a;", 499)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				Judge(text)
			}
		})
	}
}
