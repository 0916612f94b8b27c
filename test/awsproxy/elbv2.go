package awsproxy

// elbService is the second version of Elastic Load Balancing.
type elbService struct {
	upstream     *upstream
	certificates *acmService
}
