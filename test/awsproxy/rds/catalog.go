package rds

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// engineVersions are some of the versions that RDS offers for each engine, oldest first: major version, version. moto
// has none.
var engineVersions = map[string][][2]string{
	"postgres": {{"14", "14.17"}, {"15", "15.12"}, {"16", "16.3"}, {"16", "16.8"}, {"17", "17.4"}},
	"mysql":    {{"8.0", "8.0.40"}, {"8.0", "8.0.41"}, {"8.4", "8.4.4"}},
	"mariadb":  {{"10.11", "10.11.11"}, {"11.4", "11.4.5"}},
}

// orderable are, by engine, the families of instance classes, and by family the sizes.
var (
	orderable = map[string][]string{
		"postgres": {"db.t3", "db.t4g", "db.m6g", "db.m7g", "db.r6g", "db.r7g", "db.x2g"},
		"mysql":    {"db.t3", "db.t4g", "db.m6g", "db.m7g", "db.r6g"},
		"mariadb":  {"db.t3", "db.t4g", "db.m6g"},
	}
	burstables = []string{"micro", "small", "medium", "large", "xlarge", "2xlarge"}
	steady     = []string{"large", "xlarge", "2xlarge", "4xlarge", "8xlarge", "12xlarge", "16xlarge"}
	storages   = []string{"gp2", "gp3", "io1"} // each is a separate option
)

// onSale returns RDS's offers, page by page; nil for any other operation. It knows no version and no class beyond its
// tables.
func onSale(x *wire.Exchange) *wire.Reply {
	var items []string
	switch x.Call.Operation {
	case "DescribeDBEngineVersions":
		items = versionsOnSale(x.Form.Get("Engine"), x.Form.Get("EngineVersion"))
	case "DescribeOrderableDBInstanceOptions":
		items = classesOnSale(x.Form.Get("Engine"), x.Form.Get("EngineVersion"))
	default:
		return nil
	}
	size, err := strconv.Atoi(cmp.Or(x.Form.Get("MaxRecords"), "100"))
	if err != nil || size < 20 || size > 100 {
		return x.Fail(http.StatusBadRequest, "InvalidParameterValue", "Invalid value "+x.Form.Get("MaxRecords")+
			" for MaxRecords. Must be between 20 and 100")
	}
	from, err := strconv.Atoi(cmp.Or(x.Form.Get("Marker"), "0"))
	if err != nil || from < 0 || from > len(items) {
		return x.Fail(http.StatusBadRequest, "InvalidParameterValue", "Invalid value for marker: "+x.Form.Get("Marker"))
	}
	marker, until := "", min(from+size, len(items))
	if until < len(items) {
		marker = "<Marker>" + strconv.Itoa(until) + "</Marker>"
	}
	op, list := x.Call.Operation, strings.TrimPrefix(x.Call.Operation, "Describe")
	return wire.XMLReply(http.StatusOK, `<`+op+`Response xmlns="http://rds.amazonaws.com/doc/2014-10-31/"><`+op+`Result>`+
		marker+
		`<`+list+`>`+strings.Join(items[from:until], "")+`</`+list+`></`+op+
		`Result><ResponseMetadata><RequestId/></ResponseMetadata></`+op+`Response>`)
}

func versionsOnSale(engine, version string) []string {
	var items []string
	for _, v := range engineVersions[engine] {
		if version == "" || version == v[1] || version == v[0] {
			items = append(items, fmt.Sprintf(
				"<DBEngineVersion><Engine>%s</Engine><MajorEngineVersion>%s</MajorEngineVersion><EngineVersion>%s</EngineVersion>"+
					"<DBEngineVersionDescription>%s "+
					"%s</DBEngineVersionDescription><Status>available</Status></DBEngineVersion>", engine, v[0], v[1],
				engine, v[1]))
		}
	}
	return items
}

func classesOnSale(engine, version string) []string {
	var items []string
	for _, v := range engineVersions[engine] {
		if version != "" && version != v[1] {
			continue
		}
		for _, class := range classesOf(engine) {
			for _, storage := range storages {
				items = append(items, fmt.Sprintf(
					"<OrderableDBInstanceOption><Engine>%s</Engine><EngineVersion>%s</EngineVersion><DBInstanceClass>%s</DBInstanceClass><StorageType>%s</StorageType></OrderableDBInstanceOption>",
					engine, v[1], class, storage))
			}
		}
	}
	return items
}

func classesOf(engine string) (all []string) {
	for _, family := range orderable[engine] {
		sizes := steady
		if strings.HasPrefix(family, "db.t") {
			sizes = burstables
		}
		for _, size := range sizes {
			all = append(all, family+"."+size)
		}
	}
	return all
}
