package config

// exportTable is the table of what hookctl export goes by: see [Raw].
const exportTable = "export"

func exportKeys() []otherKey {
	return []otherKey{
		{"endpoint", aString, "where hookctl export sends, as the base of OTLP over HTTP", `"https://collector.example.org:4318"`},
		{"headers", aString, "headers of its requests, name=value,name=value", `"authorization=Bearer%20…"`},
		{"certificate", aString, "file of those who sign the endpoint's certificate", `"/etc/ssl/collector-ca.pem"`},
		{"client-certificate", aString, "file of the certificate that is shown to it", `"/etc/ssl/laptop.pem"`},
		{"client-key", aString, "file of that certificate's key", `"/etc/ssl/laptop.key"`},
		{"protocol", aString, "http/protobuf or http/json", `"http/json"`},
		{"compression", aString, "gzip or none", `"gzip"`},
		{"timeout", aString, "how long one request may take", `"10s"`},
		{"file", aString, "a file of OTLP/JSON lines to add to, in place of an endpoint", `"/var/log/stopgate.jsonl"`},
		{"with-commands", aBoolean, "send commands, names and folders too", `true`},
	}
}

// Exports are the settings below [export] by their names, and what is wrong with the
// others that stand there. Only a person says them.
func (c Config) Exports() (map[string]string, []Problem) {
	out := map[string]string{}
	problems := c.judge(exportTable, exportKeys(), func(name string, v raw) error {
		out[name] = v.text
		return nil
	})
	return out, problems
}

// exportRows are those settings as they are shown. What headers say is mostly a secret.
func (c Config) exportRows() []Row {
	said, _ := c.Exports()
	var rows []Row
	for _, k := range exportKeys() {
		row := Row{Key: exportTable + "." + k.name, From: Default, Help: k.help}
		if text, ok := said[k.name]; ok {
			row.Value, row.From = text, Person
		}
		if k.name == "headers" && row.Value != "" {
			row.Value = "(not shown)"
		}
		rows = append(rows, row)
	}
	return rows
}
