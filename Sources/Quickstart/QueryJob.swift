import Foundation
import OData
import WebServiceClient

/// The second job: fetching entities with typed queries.
struct QueryJob {
    let service: EmbeddedService

    func run() async throws {
        let client = ODataClient(serviceRoot: service.url + "/odata") {
            $0.interceptors = [CallPrinter()]
        }

        // A query is a value. The compiler checks the properties, and the library writes the names and literals of the URL.
        let bargains = FetchRequest<Product>()
            .filter { $0.category == "Kitchen" && $0.price < 20 && $0.stock > 0 }
            .order(by: .ascending(\.price))
            .top(8)
        let found = try await client.fetch(bargains)
        print("\n\(Table(found))\n")

        // An entity set may be larger than one response. A sequence delivers the entities page by page, and follows the next link of a page
        // when its entities are used up. This loop ends early, so one page is enough.
        let all = FetchRequest<Product>()
        for try await product in client.entities(matching: all) where product.price > 100 {
            print("\n  The first product above 100 is the \(product.name) for \(product.price).\n")
            break
        }

        // The same as a sequence of all pages. `client.fetch(all)` returns their entities in one array.
        var pages = 0
        var count = 0
        for try await page in client.pages(matching: all) {
            pages += 1
            count += page.entities.count
        }
        print("\n  \(count) products in \(pages) pages.")
        guard count == service.productCount else { throw QuickstartError("The shop has \(service.productCount) products.") }
    }
}

extension Table {
    init(_ products: [Product]) {
        let rows = products.map { [String($0.id), $0.name, $0.category, String(format: "%.2f", $0.price), String($0.stock)] }
        self.init(columns: ["ID", "Name", "Category", "Price", "Stock"], rows: rows)
    }
}
