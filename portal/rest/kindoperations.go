package rest

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/portico-platform/portico/portal/catalog"
)

// basePath returns the path of the collection of a kind.
func basePath(k catalog.Kind) string {
	if !k.Namespaced {
		return "/" + k.Plural
	}
	return "/namespaces/{namespace}/" + k.Plural
}

// readOperations returns those that every kind has.
func (a *API) readOperations(k catalog.Kind) []operation {
	list, one := basePath(k), basePath(k)+"/{name}"
	return []operation{
		rowOf(k, huma.Operation{
			OperationID: "list" + k.ID() + "s", Method: http.MethodGet, Path: list,
			Summary: "List objects of kind " + k.Name, Description: watchWords,
			Responses: listResponse(schemaOf(k)), Errors: always,
		}, a.list),
		rowOf(k, huma.Operation{
			OperationID: "get" + k.ID(), Method: http.MethodGet, Path: one,
			Summary: "Get one " + k.Name, Description: watchWords,
			Responses: withWatch(responses(schemaOf(k), map[int]string{http.StatusOK: "The object"})),
			Errors:    readErrors,
		}, a.get),
		rowOf(k, huma.Operation{
			OperationID: "events" + k.ID(), Method: http.MethodGet, Path: one + "/events",
			Summary: "List the events about one " + k.Name + ", newest first", Errors: readErrors,
		}, a.events),
	}
}

// engineOperations returns those about what only the operator does for objects, which are Portico's own.
func (a *API) engineOperations(k catalog.Kind) []operation {
	if !k.Own() {
		return nil
	}
	one := basePath(k) + "/{name}"
	return []operation{
		rowOf(k, huma.Operation{
			OperationID: "checks" + k.ID(), Method: http.MethodGet, Path: one + "/checks",
			Summary: "Get what the operator's checks found of one " + k.Name, Errors: readErrors,
			Description: "What the operator remembers since it started, and what moves by itself in AWS. None of it " +
				"is in the object's status. Answers may be 5 seconds old, and values from AWS 10.",
		}, a.checks),
		rowOf(k, huma.Operation{
			OperationID: "history" + k.ID(), Method: http.MethodGet, Path: one + "/history",
			Summary: "List the last versions of one " + k.Name + ", newest first", Errors: readErrors,
			Description: "What the spec was and who changed it: up to 10 versions of what teams request, and none of " +
				"other kinds. It takes the right to get the object.",
		}, a.history),
	}
}

// featureOperations returns those of kinds that run in Pods or have connection details.
func (a *API) featureOperations(k catalog.Kind) (all []operation) {
	one := basePath(k) + "/{name}"
	if k.ID() == catalog.AppKind {
		all = append(all, rowOf(k, huma.Operation{
			OperationID: "logs" + k.ID(), Method: http.MethodGet, Path: one + "/logs",
			Summary: "Read the log of a Pod of one " + k.Name, Description: logWords,
			Responses: logResponse(), Errors: with(readErrors, http.StatusBadRequest),
		}, a.logs))
	}
	if k.Tells("binding") {
		all = append(all, rowOf(k, huma.Operation{
			OperationID: "reveal" + k.ID(), Method: http.MethodPost, Path: one + "/reveal",
			Summary:       "Show the password in the connection details of one " + k.Name,
			DefaultStatus: http.StatusOK, Errors: secretErrors, Description: revealWords,
		}, a.reveal))
	}
	return all
}

// writeOperations returns those of kinds that users write.
func (a *API) writeOperations(k catalog.Kind) []operation {
	const asItWouldBe = "as it would be, defaults filled in"
	list, one := basePath(k), basePath(k)+"/{name}"
	return []operation{
		rowOf(k, huma.Operation{
			OperationID: "create" + k.ID(), Method: http.MethodPost, Path: list, Summary: "Request a new " + k.Name,
			Metadata: changes(k.Plural), DefaultStatus: http.StatusCreated,
			RequestBody: requestBody(k), Errors: createErrors,
			Responses: responses(schemaOf(k), map[int]string{
				http.StatusCreated: "Created; with dryRun the answer is 200 and nothing is kept",
				http.StatusOK:      "With dryRun: the object " + asItWouldBe,
			}),
		}, a.create),
		rowOf(k, huma.Operation{
			OperationID: "delete" + k.ID(), Method: http.MethodDelete, Path: one, Summary: "Delete one " + k.Name,
			Metadata: changes(k.Plural), DefaultStatus: http.StatusAccepted, Errors: deleteErrors,
			Responses: responses(schemaOf(k), map[int]string{
				http.StatusAccepted: "Deletion has begun; the object while its finalizers run",
				http.StatusOK:       "Gone at once, or with dryRun could be; the object as it was",
			}),
			Description: "Deletes the object that exists now, by its UID: a namesake made in the meantime stays " +
				"(409). What is in use is refused, and names its users; so is what asks for a confirmation, without " +
				"confirm (403).",
		}, a.delete),
		rowOf(k, huma.Operation{
			OperationID: "put" + k.ID(), Method: http.MethodPut, Path: one,
			Summary: "Create or replace one " + k.Name, Metadata: changes(k.Plural),
			RequestBody: putBody(k), Errors: editErrors,
			Responses: responses(schemaOf(k), map[int]string{
				http.StatusOK:      "Replaced; with dryRun the object " + asItWouldBe,
				http.StatusCreated: "Created, which If-None-Match: * asked for",
			}),
			Description: putWords,
		}, a.put),
		rowOf(k, huma.Operation{
			OperationID: "patch" + k.ID(), Method: http.MethodPatch, Path: one,
			Summary: "Change parts of one " + k.Name, Metadata: changes(k.Plural),
			RequestBody: patchBody(), Errors: editErrors,
			Responses: responses(schemaOf(k), map[int]string{
				http.StatusOK: "Changed; with dryRun the object " + asItWouldBe,
			}),
			Description: "A JSON merge patch (RFC 7396) of metadata.labels, metadata.annotations and spec: null " +
				"removes, lists are replaced as a whole. It needs If-Match; without it the answer is 428.",
		}, a.patch),
	}
}
