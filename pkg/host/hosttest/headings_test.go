package hosttest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A comment that names a fact of the client names a heading of docs/client.md.
func TestHeadingsThatCommentsName(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "..")
	doc, err := os.ReadFile(filepath.Join(root, "docs", "client.md"))
	if err != nil {
		t.Fatal(err)
	}
	headings := map[string]bool{}
	for _, h := range regexp.MustCompile(`(?m)^##+ (.+)$`).FindAllStringSubmatch(string(doc), -1) {
		headings[h[1]] = true
	}
	// A comment may break the line inside a name.
	broken := regexp.MustCompile(`\n\s*//\s*`)
	named := regexp.MustCompile(`docs/client\.md: ([^).;"\x60\n]+)`)
	seen := 0
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != root:
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "headings_test.go"):
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range named.FindAllStringSubmatch(broken.ReplaceAllString(string(data), " "), -1) {
			for _, name := range strings.Split(m[1], ", ") {
				if seen++; !headings[strings.TrimSpace(name)] {
					t.Errorf("%s names docs/client.md: %s, which is no heading there", path, name)
				}
			}
		}
		return nil
	})
	if err != nil || seen < 50 || len(headings) < 20 {
		t.Errorf("%d names, %d headings, %v", seen, len(headings), err)
	}
}
