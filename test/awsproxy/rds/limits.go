package rds

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// refuse refuses values that RDS refuses regardless of existing resources, and moto accepts. The rows of
// test/awslimits have the sources.
func refuse(x *wire.Exchange) *wire.Reply {
	switch x.Call.Operation {
	case "CreateDBInstance":
		return wire.FirstRefusal(wire.OddTags(x, x.Form, "Tags.Tag."), databaseStorage(x, x.Form),
			databaseWindows(x, x.Form), databaseNames(x))
	case "AddTagsToResource":
		return wire.OddTags(x, x.Form, "Tags.Tag.")
	}
	return nil
}

// databaseStorage refuses combinations of size, type, IOPS and throughput that "Amazon RDS DB instance storage" of
// the User Guide rules out.
func databaseStorage(x *wire.Exchange, form url.Values) *wire.Reply {
	refuse := func(message string) *wire.Reply {
		return x.Fail(http.StatusBadRequest, "InvalidParameterCombination", message)
	}
	engine, kind := form.Get("Engine"), form.Get("StorageType")
	size, iops := wire.Number(form, "AllocatedStorage"), wire.Number(form, "Iops")
	throughput := wire.Number(form, "StorageThroughput")
	sqlServer, striped := strings.HasPrefix(engine, "sqlserver"), 400
	if strings.HasPrefix(engine, "oracle") {
		striped = 200
	}
	switch {
	case kind == "gp3" && sqlServer:
		iops = max(iops, 3000)
	case kind == "gp3" && size < striped && (iops > 0 || throughput > 0):
		return refuse("You can't specify IOPS or storage throughput for engine " + engine +
			" and a storage size less than " + strconv.Itoa(striped) + ".")
	case kind == "gp3" && size >= striped &&
		(form.Has("Iops") && iops < 12000 || form.Has("StorageThroughput") && throughput < 500):
		return refuse("You must specify at least 12000 IOPS and 500 storage throughput for engine " + engine +
			" and a storage size of " + strconv.Itoa(size) + ".")
	case kind == "gp3" && !form.Has("Iops"):
		iops = 12000
	case (kind == "io1" || kind == "io2") && !sqlServer && size < 100:
		return refuse("Invalid storage size for engine name " + engine + " and storage type " + kind + ": " +
			strconv.Itoa(size))
	}
	return storageRatio(x, kind, size, iops, throughput)
}

func storageRatio(x *wire.Exchange, kind string, size, iops, throughput int) *wire.Reply {
	most := map[string]int{"io1": 50, "io2": 1000}[kind]
	if most > 0 && (iops*2 < size || iops > size*most) {
		return x.Fail(http.StatusBadRequest, "InvalidParameterCombination",
			"Invalid iops to max storage (GB) ratio for storage type "+kind)
	}
	if kind == "gp3" && throughput*4 > iops {
		return x.Fail(http.StatusBadRequest, "InvalidParameterCombination",
			"Invalid storage throughput to iops ratio for storage type gp3")
	}
	return nil
}

// merged returns parameters of a change, and the current values of those that the change leaves out.
func merged(x *wire.Exchange, is []byte, names ...string) url.Values {
	all, changes := url.Values{}, false
	for _, name := range names {
		if text := wire.Element(is, name); text != "" && text != "0" {
			all.Set(name, text)
		}
		if x.Form.Has(name) {
			all.Set(name, x.Form.Get(name))
			changes = true
		}
	}
	if !changes {
		return url.Values{}
	}
	return all
}

// databaseWindows refuses windows that are too short, or overlap.
func databaseWindows(x *wire.Exchange, form url.Values) *wire.Reply {
	refuse := func(message string) *wire.Reply {
		return x.Fail(http.StatusBadRequest, "InvalidParameterValue", message)
	}
	backup, backupLong := window(form.Get("PreferredBackupWindow"), 24*60)
	maintenance, maintenanceLong := window(form.Get("PreferredMaintenanceWindow"), 7*24*60)
	switch {
	case form.Get("PreferredBackupWindow") != "" && backupLong < 30:
		return refuse("The backup window must be at least 30 minutes.")
	case form.Get("PreferredMaintenanceWindow") == "":
		return nil
	case maintenanceLong < 30 || maintenanceLong > 24*60:
		return refuse("The maintenance window must be at least 30 minutes and at most 24 hours.")
	case form.Get("PreferredBackupWindow") == "":
		return nil
	}
	const day = 24 * 60
	if (backup-maintenance%day+day)%day < maintenanceLong || (maintenance%day-backup+day)%day < backupLong {
		return refuse("The backup window and maintenance window must not overlap.")
	}
	return nil
}

// window parses hh:mm-hh:mm or ddd:hh:mm-ddd:hh:mm, in minutes.
func window(text string, period int) (start, long int) {
	from, to, found := strings.Cut(strings.ToLower(text), "-")
	if !found {
		return 0, 0
	}
	start = minute(from)
	return start, (minute(to) - start + period) % period
}

func minute(text string) (of int) {
	parts := strings.Split(text, ":")
	if len(parts) == 3 {
		of = slices.Index([]string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}, parts[0]) * 24 * 60
		parts = parts[1:]
	}
	hour, _ := strconv.Atoi(parts[0])
	minute, _ := strconv.Atoi(parts[len(parts)-1])
	return of + hour*60 + minute
}

// reservedWords are the words of "SQL Key Words" of PostgreSQL's documentation that cannot name a user or a database.
var reservedWords = strings.Fields(`
	all analyse analyze and any array as asc asymmetric both case cast check collate column
	constraint create current_catalog current_date current_role current_time current_timestamp
	current_user default deferrable desc distinct do else end except false fetch for foreign from
	grant group having in initially intersect into lateral leading limit localtime localtimestamp
	not null offset on only or order placing primary references returning select session_user some
	symmetric system_user table then to trailing true union unique using variadic when where window
	with
`)

// databaseNames refuses names and ports that an engine reserves.
func databaseNames(x *wire.Exchange) *wire.Reply {
	port, engine := wire.Number(x.Form, "Port"), x.Form.Get("Engine")
	if strings.HasPrefix(engine, "sqlserver") && (slices.Contains([]int{1234, 1434, 3260, 3343, 3389, 47001}, port) ||
		port >= 49152 && port <= 49156) {
		return x.Fail(http.StatusBadRequest, "InvalidParameterValue", "The port "+strconv.Itoa(port)+" is reserved.")
	}
	if engine != "postgres" {
		return nil
	}
	for _, parameter := range []string{"MasterUsername", "DBName"} {
		if name := strings.ToLower(x.Form.Get(parameter)); slices.Contains(reservedWords, name) ||
			parameter == "MasterUsername" && strings.HasPrefix(name, "pg_") {
			return x.Fail(http.StatusBadRequest, "InvalidParameterValue", parameter+" "+name+
				" cannot be used as it is a reserved word used by the engine")
		}
	}
	return nil
}
