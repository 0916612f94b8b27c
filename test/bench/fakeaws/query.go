package fakeaws

import (
	"cmp"
	"encoding/xml"
	"net/http"
	"net/url"
)

// fixed are constant responses of the services with the query protocol: the caller's identity, and empty results.
var fixed = map[string]string{
	"sts GetCallerIdentity": `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult>` +
		`<Arn>arn:aws:iam::` + AccountID + `:user/portico</Arn><UserId>AIDAPORTICO</UserId><Account>` + AccountID +
		`</Account>` +
		`</GetCallerIdentityResult><ResponseMetadata><RequestId/></ResponseMetadata></GetCallerIdentityResponse>`,
	"rds DescribeDBInstances": `<DescribeDBInstancesResponse xmlns="http://rds.amazonaws.com/doc/2014-10-31/"><DescribeDBInstancesResult>` +
		`<DBInstances/></DescribeDBInstancesResult><ResponseMetadata><RequestId/></ResponseMetadata></DescribeDBInstancesResponse>`,
	"ec2 DescribeInstances": `<DescribeInstancesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><requestId/><reservationSet/></DescribeInstancesResponse>`,
}

func routeQuery(x *request) {
	form, err := url.ParseQuery(string(x.body))
	if err != nil {
		form = url.Values{} // without an Action
	}
	x.operation = cmp.Or(form.Get("Action"), x.Method+" "+x.URL.Path)
	body, known := fixed[x.service+" "+x.operation]
	x.do = func() answer {
		if !known {
			return queryError(x.service, "InvalidAction", "The action "+x.operation+" is not answered here")
		}
		return answer{status: http.StatusOK, kind: "text/xml", body: []byte(xml.Header + body)}
	}
}

func queryError(service, code, message string) answer {
	type cause struct{ Code, Message string }
	// The envelopes differ; each SDK expects its own.
	a := xmlAnswer(http.StatusBadRequest, struct {
		XMLName xml.Name `xml:"ErrorResponse"`
		Error   cause
	}{Error: cause{code, message}})
	if service == "ec2" {
		a = xmlAnswer(http.StatusBadRequest, struct {
			XMLName xml.Name `xml:"Response"`
			Error   cause    `xml:"Errors>Error"`
		}{Error: cause{code, message}})
	}
	a.code = code
	return a
}
