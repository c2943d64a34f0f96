package watch

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"

	"stopgate/pkg/status"
)

// Frame is the live view of a status at its time, as lines for a screen of that size.
func Frame(w World, st status.Status, width, height int) []string {
	m := newModel(w, st)
	m.width, m.height = width, height
	return m.draw()
}

// The measures of a picture, in its own units, and its colours: those of the styles of
// pkg/view.
const (
	cellWidth, lineHeight, margin = 8, 18, 14
	pictureStyle                  = `svg{background:#16181d;border-radius:8px}text{font:13px ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;fill:#d7dae0;white-space:pre}` +
		`.b{font-weight:bold}.f{fill:#8b93a1}.g{fill:#7fd18b}.y{fill:#e5c07b}.r{fill:#ff7b72}`
)

// classes are those of the picture's style for the sequences that pkg/view writes.
var classes = map[string]string{"1": "b", "2": "f", "32": "g", "33": "y", "31": "r", "1;31": "b r"}

// Picture draws lines of a screen as SVG. Nothing in them is taken for markup.
func Picture(lines []string, width int, title string) []byte {
	var b bytes.Buffer
	w, h := 2*margin+width*cellWidth, 2*margin+len(lines)*lineHeight
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="%s"><style>%s</style>`, w, h, w, h, escaped(title), pictureStyle)
	b.WriteString("\n")
	for i, line := range lines {
		if line == "" {
			continue
		}
		fmt.Fprintf(&b, `<text xml:space="preserve" x="%d" y="%d">`, margin, margin+(i+1)*lineHeight-5)
		for k, part := range strings.Split(line, "\x1b[") {
			code, text, styled := "", part, false
			if k > 0 {
				code, text, styled = strings.Cut(part, "m")
			}
			class := classes[code]
			switch {
			case text == "":
			case styled && class != "":
				fmt.Fprintf(&b, `<tspan class="%s">%s</tspan>`, class, escaped(text))
			default:
				b.WriteString(escaped(text))
			}
		}
		b.WriteString("</text>\n")
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

func escaped(text string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(text)) // a buffer takes everything
	return b.String()
}
