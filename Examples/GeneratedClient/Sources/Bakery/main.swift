import Foundation
import OData
import WebServiceClient
import WebServiceTesting

// From a metadata document to typed queries, changes and an action: `Bakery` and `BakeryClient` are generated from bakery.csdl.xml by the
// build tool plugin. A small service on the loopback interface stands in for the real one.

let service = try BakeryService()
let client = BakeryClient(serviceRoot: service.url)

// A typed query. Names, types and members are those of the document, and the compiler checks them.
let query = client.products.filter { $0.price < 5 && $0.kind == .bread }.expand(\.supplier).order(by: .ascending(\.name))
for product in try await client.fetch(query) {
    let city = product.supplier.value?.address.value?.city.value ?? "an unknown place"
    print("\(product.name.value ?? "?") costs \(product.price.value ?? 0) and comes from \(city)")
}

// A change: only what differs is sent, and a property that the service computes can't be set.
let rye = try await client.entity(client.products.key(Bakery.Product.key(1)))
var draft = EntityDraft(of: rye)
draft.price = .value(4)
try await client.update(client.products.key(Bakery.Product.key(1)), with: draft)
print("changed: \(service.lastBody)")

// An action, with its parameters as arguments.
let price = try await client.discount(on: client.products.key(Bakery.Product.key(1)), percent: 10)
print("with a discount: \(price)")

// A projection is a plain structure, and selects its properties.
let labels = try await client.fetch(FetchRequest<Bakery.Label>(from: "Products"))
print("labels: \(labels.map(\.name).joined(separator: ", "))")

guard labels.count == 2, price == EdmDecimal("3.60"), service.lastBody == #"{"percent":10}"# else {
    print("The outcome isn't the expected one.")
    exit(1)
}
service.stop()
