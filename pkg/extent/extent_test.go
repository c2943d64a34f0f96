package extent

import (
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

func TestWhereAValueEnds(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, text string
		n          int
		whole      bool
	}{
		{"an object", `{"a":1}`, 7, true},
		{"with more behind", `{"a":1}{"b":2}`, 7, true},
		{"nested", `{"a":[{"b":{}}]} x`, 16, true},
		{"brackets in strings", `{"a":"}]{["}`, 12, true},
		{"escaped quotes", `{"a":"\"}\\"}`, 13, true},
		{"something before", "\ufeff \r\n{}", 8, true},
		{"not whole", `{"a":[1,2}`, 0, false},
		{"a string that does not end", `{"a":"}`, 0, false},
		{"no brackets", `null`, 0, false},
		{"nothing", ``, 0, false},
		{"as deep as may be", strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth), 2 * MaxDepth, true},
		{"too deep", strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1), 0, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if n, whole := Of([]byte(c.text)); n != c.n || whole != c.whole {
				t.Errorf("got %d, %v", n, whole)
			}
			var x Scanner
			for i := range c.text {
				if _, whole := x.Feed([]byte(c.text[i : i+1])); whole != (c.whole && i == c.n-1) {
					t.Fatalf("byte by byte: whole %v after %d", whole, i+1)
				} else if whole {
					break
				}
			}
		})
	}
}

func FuzzOf(f *testing.F) {
	for _, s := range []string{`{"a":"\\\""}`, `[{}]`, `{"a":1}x`, `"{"`, `}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, whole := Of([]byte(s))
		if whole != (n > 0) || n > len(s) {
			t.Errorf("%d, %v", n, whole)
		}
		trimmed := strings.TrimLeft(s, " \t\r\n")
		if trimmed != "" && (trimmed[0] == '{' || trimmed[0] == '[') && gjson.Valid(s) {
			if rest := strings.TrimSpace(s[n:]); !strings.Contains(s, strings.Repeat("[", 100)) && (!whole || rest != "") {
				t.Errorf("valid, but %d, %v", n, whole)
			}
		}
	})
}
