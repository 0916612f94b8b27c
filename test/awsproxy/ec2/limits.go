package ec2

import (
	"cmp"
	"encoding/base64"
	"net/http"
	"net/url"
	"strconv"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// refuseLaunch refuses values of RunInstances that EC2 refuses regardless of existing resources, and moto accepts. The
// rows of test/awslimits have the sources.
func refuseLaunch(x *wire.Exchange) *wire.Reply {
	if x.Call.Operation != "RunInstances" {
		return nil
	}
	return wire.FirstRefusal(volumesOf(x), userData(x))
}

// volumesOf refuses volumes of a launch whose size or IOPS their type does not offer: CreateVolume of the API
// reference.
func volumesOf(x *wire.Exchange) *wire.Reply {
	for n := 1; ; n++ {
		at := "BlockDeviceMapping." + strconv.Itoa(n)
		if !x.Form.Has(at + ".DeviceName") {
			return nil
		}
		volume := url.Values{}
		for _, name := range []string{"VolumeType", "VolumeSize", "Iops", "Throughput"} {
			if value := x.Form.Get(at + ".Ebs." + name); value != "" {
				volume.Set(name, value)
			}
		}
		if refused := volumeLimits(x, volume); refused != nil {
			return refused
		}
	}
}

// volumeRanges are, by volume type, the least and most GiB, the least and most IOPS, and the IOPS for each GiB.
var volumeRanges = map[string]struct{ small, large, slow, fast, ratio int }{
	"gp2": {1, 16384, 0, 0, 0}, "gp3": {1, 65536, 3000, 80000, 500}, "io1": {4, 16384, 100, 64000, 50}, "io2": {4, 65536, 100, 256000, 1000},
	"st1": {125, 16384, 0, 0, 0}, "sc1": {125, 16384, 0, 0, 0}, "standard": {1, 1024, 0, 0, 0},
}

func volumeLimits(x *wire.Exchange, volume url.Values) *wire.Reply {
	kind := cmp.Or(volume.Get("VolumeType"), "gp2")
	of := volumeRanges[kind]
	size, iops := wire.Number(volume, "VolumeSize"), wire.Number(volume, "Iops")
	refuse := func(message string) *wire.Reply {
		return x.Fail(http.StatusBadRequest, "InvalidParameterValue", message)
	}
	switch {
	case size > 0 && (size < of.small || size > of.large):
		return refuse("Volume of " + strconv.Itoa(size) + "GiB is out of range for volume type " + kind)
	case iops > 0 && (iops < of.slow || iops > of.fast):
		return refuse("Volume iops of " + strconv.Itoa(iops) + " is out of range for volume type " + kind)
	case iops > of.slow && size > 0 && iops > size*of.ratio:
		return refuse("Iops to volume size ratio is too high; maximum is " + strconv.Itoa(of.ratio))
	case wire.Number(volume, "Throughput")*4 > max(iops, of.slow):
		return refuse("Throughput to iops ratio is too high; maximum is 0.25")
	}
	return nil
}

// userData refuses more than 16 KiB of user data, measured before encoding.
func userData(x *wire.Exchange) *wire.Reply {
	plain, err := base64.StdEncoding.DecodeString(x.Form.Get("UserData"))
	if err != nil || len(plain) <= 16384 {
		return nil
	}
	return x.Fail(http.StatusBadRequest, "InvalidParameterValue", "User data is limited to 16384 bytes")
}
