// Makes a plan's calls with openapi-generator's Go client. Prints each response as its models read it, as a line of JSON.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"

	generated "software-directory.example/generated"
)

type call struct {
	Operation, Tag string
	Arguments      []struct {
		Name, In string
		Value    any
	}
}

func main() {
	address, key, file := os.Args[1], os.Args[2], os.Args[3]
	text, err := os.ReadFile(file)
	if err != nil {
		panic(err)
	}
	var plan []call
	if err := json.Unmarshal(text, &plan); err != nil {
		panic(err)
	}
	configuration := generated.NewConfiguration()
	configuration.Servers = generated.ServerConfigurations{{URL: address}}
	configuration.AddDefaultHeader("Authorization", "Bearer "+key)
	client := reflect.ValueOf(generated.NewAPIClient(configuration)).Elem()
	lines := json.NewEncoder(os.Stdout)
	for _, call := range plan {
		if err := lines.Encode(answer(client, call)); err != nil {
			lines.Encode(map[string]any{"error": err.Error()})
		}
	}
}

// Path parameters are arguments of the operation; the others are methods of the request that it returns.
func answer(client reflect.Value, call call) map[string]any {
	inputs := []reflect.Value{reflect.ValueOf(context.Background())}
	for _, argument := range call.Arguments {
		if argument.In == "path" {
			inputs = append(inputs, reflect.ValueOf(argument.Value))
		}
	}
	request := client.FieldByName(call.Tag + "API").MethodByName(exported(call.Operation)).Call(inputs)[0]
	for _, argument := range call.Arguments {
		if argument.In == "query" {
			method := request.MethodByName(exported(argument.Name))
			value := reflect.ValueOf(argument.Value).Convert(method.Type().In(0))
			request = method.Call([]reflect.Value{value})[0]
		}
	}
	results := request.MethodByName("Execute").Call(nil)
	if err := results[len(results)-1]; !err.IsNil() {
		return map[string]any{"error": fmt.Sprint(err.Interface())}
	}
	return map[string]any{"answer": results[0].Interface()}
}

func exported(name string) string {
	words := strings.Split(name, "_")
	for at, word := range words {
		words[at] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, "")
}
