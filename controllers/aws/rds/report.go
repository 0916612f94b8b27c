package rds

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/external"
)

// Report fills the status and returns the connection details. Only the password in force is published.
func (i *instance) Report(obj *v1alpha1.RDSInstance, seen *instanceState) map[string]string {
	i.Reserve(obj, nil)
	s, db := &obj.Status, &seen.db
	s.ARN, s.DBInstanceStatus = i.session.ARN("rds", "db:"+i.identifier(obj)), seen.status()
	s.EngineVersion, s.LicenseModel, s.InstanceClass = aws.ToString(db.EngineVersion), aws.ToString(db.LicenseModel),
		aws.ToString(db.DBInstanceClass)
	s.AllocatedStorage, s.ParameterApplyStatus = aws.ToInt32(db.AllocatedStorage), parameterGroup(db).status
	s.PendingModifiedValues = pendingChanges(seen)
	s.Endpoint, s.Port, s.MasterUserSecretARN = "", aws.ToInt32(portOf(db)), ""
	if db.Endpoint != nil {
		s.Endpoint = aws.ToString(db.Endpoint.Address)
	}
	if db.MasterUserSecret != nil {
		s.MasterUserSecretARN = aws.ToString(db.MasterUserSecret.SecretArn)
	}
	meta.SetStatusCondition(&s.Conditions, applied(obj))
	return i.details(obj, seen)
}

func (i *instance) details(obj *v1alpha1.RDSInstance, seen *instanceState) map[string]string {
	s, username := &obj.Status, aws.ToString(seen.db.MasterUsername)
	d := map[string]string{
		"type": family(obj.Spec.Engine), "provider": "aws", "host": s.Endpoint, "port": "",
		"database": database(obj.Spec.Engine, seen),
		"username": username, "arn": s.ARN, "region": s.Region, "secret-arn": s.MasterUserSecretARN,
	}
	if s.Port != 0 {
		d["port"] = strconv.Itoa(int(s.Port))
	}
	user := url.User(username)
	if s.MasterUserSecretARN == "" && i.creds.password != "" && !i.replaced(seen) {
		d["password"] = i.creds.password
		user = url.UserPassword(username, i.creds.password)
	}
	if s.Endpoint != "" {
		d["uri"] = uri(obj.Spec.Engine, user, s.Endpoint+":"+d["port"], d["database"])
	}
	return d
}

// database returns the database to connect to; PostgreSQL always has one named postgres.
func database(engine string, seen *instanceState) string {
	name := aws.ToString(seen.db.DBName)
	if name == "" && engine == "postgres" {
		return "postgres"
	}
	return name
}

// uri returns the URI in the engine's scheme. MariaDB uses MySQL's protocol, and its clients know that scheme; SQL
// Server takes the database as a parameter.
func uri(engine string, user *url.Userinfo, host, database string) string {
	u := url.URL{Scheme: family(engine), User: user, Host: host}
	switch u.Scheme {
	case "mariadb":
		u.Scheme = "mysql"
	case "sqlserver":
		if database != "" {
			u.RawQuery = url.Values{"database": {database}}.Encode()
		}
		return u.String()
	}
	if database != "" {
		u.Path = "/" + database
	}
	return u.String()
}

// pendingChanges returns the changes that RDS has accepted and not applied, by the spec's names. For a password it says
// only that it changes.
func pendingChanges(seen *instanceState) map[string]string {
	all, p := map[string]string{}, seen.pending()
	for _, s := range settings {
		if to := s.Have(seen); to != s.Have(seen.inForce()) {
			all[s.Path] = to
		}
	}
	for name, to := range beyondSettings(&p) {
		if to != "" {
			all[name] = to
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

// beyondSettings returns the pending changes that no setting covers: the version, and fields that only AWS or a person
// with access to it changes. Empty values are no changes.
func beyondSettings(p *pending) map[string]string {
	all := map[string]string{
		versionPath: firstString(p.EngineVersion), "dbInstanceIdentifier": firstString(p.DBInstanceIdentifier),
		"engine":            firstString(p.Engine),
		"dbSubnetGroupName": firstString(p.DBSubnetGroupName), "caCertificateIdentifier": firstString(
			p.CACertificateIdentifier),
		"automationMode": string(p.AutomationMode), "dbCapacityReservationIdentifier": firstString(
			p.DBCapacityReservationIdentifier),
	}
	for name, to := range map[string]*bool{
		"iamDatabaseAuthenticationEnabled": p.IAMDatabaseAuthenticationEnabled,
		"dedicatedLogVolume":               p.DedicatedLogVolume, "multiTenant": p.MultiTenant,
	} {
		if to != nil {
			all[name] = formatBool(to)
		}
	}
	if p.MasterUserPassword != nil {
		all[passwordPath] = "a new one"
	}
	if p.ResumeFullAutomationModeTime != nil {
		all["resumeFullAutomationModeTime"] = p.ResumeFullAutomationModeTime.UTC().Format(time.RFC3339)
	}
	var features []string
	for _, f := range p.ProcessorFeatures {
		features = append(features, aws.ToString(f.Name)+"="+aws.ToString(f.Value))
	}
	var volumes []string
	for _, v := range p.AdditionalStorageVolumes {
		volumes = append(volumes, aws.ToString(v.VolumeName))
	}
	all["processorFeatures"], all["additionalStorageVolumes"] = external.JoinSet(features), external.JoinSet(volumes)
	return all
}

const passwordPath = "masterUserPassword"

// waitsForWindow reports whether any change waits that an immediate change would also apply. A password and the exports
// of logs never wait for the maintenance window.
func waitsForWindow(seen *instanceState) bool {
	for path := range pendingChanges(seen) {
		if path != passwordPath && path != "enabledCloudwatchLogsExports" {
			return true
		}
	}
	return false
}

// applied returns the condition for accepted changes that are not in force yet. It does not affect Ready: the owner
// chose to wait for the window.
func applied(obj *v1alpha1.RDSInstance) metav1.Condition {
	s := &obj.Status
	c := metav1.Condition{
		Type: v1alpha1.ConditionChangesApplied, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonApplied,
		Message: "every change is in force", ObservedGeneration: obj.Generation,
	}
	var texts []string
	for _, path := range slices.Sorted(maps.Keys(s.PendingModifiedValues)) {
		texts = append(texts, path+" "+s.PendingModifiedValues[path])
	}
	switch {
	case len(texts) > 0:
		c.Status, c.Reason = metav1.ConditionFalse, v1alpha1.ReasonWaitingForMaintenanceWindow
		c.Message = "accepted by RDS and not in force yet: " + strings.Join(texts, ", ") +
			"; it waits for the maintenance window, unless applyImmediately is true"
	case s.ParameterApplyStatus == "pending-reboot":
		c.Status, c.Reason = metav1.ConditionFalse, v1alpha1.ReasonWaitingForReboot
		c.Message = "some settings of the parameter group wait for a reboot: reboot the database in AWS at a time " +
			"that suits"
	}
	c.Message += larger(obj)
	return c
}

// larger says why there is more storage than the spec requests, unless AWS may add some.
func larger(obj *v1alpha1.RDSInstance) string {
	becomes := max(obj.Status.AllocatedStorage,
		aws.ToInt32(external.ParseInt(obj.Status.PendingModifiedValues["allocatedStorage"])))
	if becomes <= obj.Spec.AllocatedStorage || obj.Spec.MaxAllocatedStorage != nil {
		return ""
	}
	return fmt.Sprintf("; the storage stays at %d GiB, which is more than allocatedStorage asks for: storage "+
		"cannot shrink", becomes)
}
