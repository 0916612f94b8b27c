package awsproxy

import (
	"cmp"
	"encoding/base64"
	"encoding/xml"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// transitions refuses a move that comes too soon after one to STANDARD_IA or ONEZONE_IA.
func transitions(x *exchange) *reply {
	var c struct {
		Rules []struct {
			Current    []transition `xml:"Transition"`
			Noncurrent []transition `xml:"NoncurrentVersionTransition"`
		} `xml:"Rule"`
	}
	if xml.Unmarshal(x.body, &c) != nil {
		return x.malformed()
	}
	for _, rule := range c.Rules {
		for _, moves := range [][]transition{rule.Current, rule.Noncurrent} {
			if next, soon := tooSoon(moves); soon {
				return x.invalidArgument("'Days' in the Transition action for StorageClass '" + next.StorageClass +
					"' must be 30 days more than 'Days' of the Transition action before it")
			}
		}
	}
	return nil
}

type transition struct {
	Days         int
	Noncurrent   int `xml:"NoncurrentDays"`
	StorageClass string
}

// tooSoon returns a move out of infrequent access within 30 days.
func tooSoon(moves []transition) (next transition, soon bool) {
	for _, first := range moves {
		for _, next := range moves {
			at, then := first.Days+first.Noncurrent, next.Days+next.Noncurrent
			if strings.HasSuffix(first.StorageClass, "_IA") && then > at && then < at+30 {
				return next, true
			}
		}
	}
	return next, false
}

// bucketTags refuses tags of a bucket that S3 does not take.
func bucketTags(x *exchange) *reply {
	var sent struct {
		Tags []tag `xml:"TagSet>Tag"`
	}
	if xml.Unmarshal(x.body, &sent) != nil {
		return x.malformed()
	}
	return checkTags(x, sent.Tags)
}

// origins refuses asterisks that S3 does not take in a CORS configuration.
func origins(x *exchange) *reply {
	var c struct {
		Rules []struct {
			Origins []string `xml:"AllowedOrigin"`
			Headers []string `xml:"AllowedHeader"`
			Exposed []string `xml:"ExposeHeader"`
		} `xml:"CORSRule"`
	}
	if xml.Unmarshal(x.body, &c) != nil {
		return x.malformed()
	}
	for _, rule := range c.Rules {
		for most, list := range [][]string{rule.Exposed, append(rule.Origins, rule.Headers...)} {
			for _, text := range list {
				if strings.Count(text, "*") > most {
					return x.fail(http.StatusBadRequest, "InvalidRequest", text+" can not have more than "+strconv.Itoa(most)+" wildcard.")
				}
			}
		}
	}
	return nil
}

// volumesOf refuses volumes of a launch that their type does not come in: CreateVolume of the API reference.
func volumesOf(x *exchange) *reply {
	for n := 1; ; n++ {
		at := "BlockDeviceMapping." + strconv.Itoa(n)
		if !x.form.Has(at + ".DeviceName") {
			return nil
		}
		volume := url.Values{}
		for _, name := range []string{"VolumeType", "VolumeSize", "Iops", "Throughput"} {
			if value := x.form.Get(at + ".Ebs." + name); value != "" {
				volume.Set(name, value)
			}
		}
		if refused := volumeLimits(x, volume); refused != nil {
			return refused
		}
	}
}

// volumeRanges are least and most GiB, operations, and operations for each GiB.
var volumeRanges = map[string]struct{ small, large, slow, fast, ratio int }{
	"gp2": {1, 16384, 0, 0, 0}, "gp3": {1, 65536, 3000, 80000, 500}, "io1": {4, 16384, 100, 64000, 50}, "io2": {4, 65536, 100, 256000, 1000},
	"st1": {125, 16384, 0, 0, 0}, "sc1": {125, 16384, 0, 0, 0}, "standard": {1, 1024, 0, 0, 0},
}

func volumeLimits(x *exchange, volume url.Values) *reply {
	kind := cmp.Or(volume.Get("VolumeType"), "gp2")
	of := volumeRanges[kind]
	size, iops := number(volume, "VolumeSize"), number(volume, "Iops")
	refuse := func(message string) *reply { return x.fail(http.StatusBadRequest, "InvalidParameterValue", message) }
	switch {
	case size > 0 && (size < of.small || size > of.large):
		return refuse("Volume of " + strconv.Itoa(size) + "GiB is out of range for volume type " + kind)
	case iops > 0 && (iops < of.slow || iops > of.fast):
		return refuse("Volume iops of " + strconv.Itoa(iops) + " is out of range for volume type " + kind)
	case iops > of.slow && size > 0 && iops > size*of.ratio:
		return refuse("Iops to volume size ratio is too high; maximum is " + strconv.Itoa(of.ratio))
	case number(volume, "Throughput")*4 > max(iops, of.slow):
		return refuse("Throughput to iops ratio is too high; maximum is 0.25")
	}
	return nil
}

// userData refuses more than 16 KiB of it, before it was encoded.
func userData(x *exchange) *reply {
	plain, err := base64.StdEncoding.DecodeString(x.form.Get("UserData"))
	if err != nil || len(plain) <= 16384 {
		return nil
	}
	return x.fail(http.StatusBadRequest, "InvalidParameterValue", "User data is limited to 16384 bytes")
}
