package albconfig

import (
	"encoding/json"
	"reflect"
	"strings"
)

// fields has the fields that ListenerConfiguration declares, and no methods.
type fields ListenerConfiguration

// known holds the names of these fields.
var known = func() map[string]bool {
	all, of := map[string]bool{}, reflect.TypeFor[fields]()
	for field := range of.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		all[name] = true
	}
	return all
}()

// UnmarshalJSON implements json.Unmarshaler: unknown fields are kept in Others.
func (l *ListenerConfiguration) UnmarshalJSON(text []byte) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, (*fields)(l)); err != nil {
		return err
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	l.Others = nil
	for name, value := range all {
		if known[name] {
			continue
		}
		if l.Others == nil {
			l.Others = Fields{}
		}
		l.Others[name] = string(value)
	}
	return nil
}

// MarshalJSON implements json.Marshaler.
func (l ListenerConfiguration) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal(fields(l))
	if err != nil || len(l.Others) == 0 {
		return text, err
	}
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	for name, value := range l.Others {
		all[name] = json.RawMessage(value)
	}
	return json.Marshal(all)
}
