package host

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/creack/pty"
)

func TestTerminals(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no pseudo-terminal to try it with there")
	}
	here, there, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer here.Close()
	defer there.Close()
	if err := pty.Setsize(here, &pty.Winsize{Rows: 24, Cols: 91}); err != nil {
		t.Fatal(err)
	}
	if width, _, ok := Terminal(there); !ok || width != 91 || !IsTerminal(there) {
		t.Errorf("a terminal of 91 columns: %v, %d", ok, width)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if _, _, ok := Terminal(null); ok || IsTerminal(null) || IsTerminal(strings.NewReader("")) {
		t.Error("what is none counts as a terminal")
	}
}
