import Foundation
import OData
import Testing
import WebServiceClient

private struct Category: Decodable, Equatable, Sendable {
    var ID: Int
    var Name: String
}

private struct Product: Decodable, Equatable, Sendable {
    var id: Int
    var name: String
    var price: Double
    var released: Date
    var category: Category

    enum CodingKeys: String, CodingKey {
        case id = "ID"
        case name = "Name"
        case price = "Price"
        case released = "ReleaseDate"
        case category = "Category"
    }
}

/// The same without this library's JSON: the date is a text.
private struct PlainProduct: Decodable {
    var ID: Int
    var Name: String
    var Price: Double
    var ReleaseDate: String
    var Category: Category
}

private let products = FetchRequest<Product>(from: "Products")

extension IntegrationTests {
    @Suite struct ODataIntegrationTests {
        private let client: ODataClient

        init() throws {
            client = ODataClient(serviceRoot: try TestServer.named("odata").url + "/odata")
        }

        private func collect(_ request: FetchRequest<Product>) async throws -> [Product] {
            var all: [Product] = []
            for try await product in client.entities(matching: request) { all.append(product) }
            return all
        }

        @Test func `a thousand products over all pages are those of the whole`() async throws {
            let paged = try await collect(products)
            #expect(paged.count == 1_000)
            #expect(paged.map(\.id) == Array(1...1_000))
            #expect(paged == (try await client.fetch(FetchRequest<Product>(from: "AllProducts"))))
            #expect(paged == (try await client.fetch(products)))
        }

        @Test func `each value is the one in the file`() async throws {
            let instants = [
                "2024-02-29T08:30:00Z": 1_709_195_400, "1999-12-31T23:59:59.1234567+02:00": 946_677_599.123_456_7,
                "2001-01-01T00:00:00.5-11:30": 978_348_600.5,
            ]
            let files = WebServiceClient(serviceRoot: try TestServer.named("nginx-gzip").url)
            let plain = try JSONDecoder().decode([PlainProduct].self, from: await files.http.get("/products.json").value(Data.self))
            let typed = try await collect(products)
            try #require(plain.count == typed.count)
            for (expected, product) in zip(plain, typed) {
                #expect(product.id == expected.ID && isExactly(product.name, expected.Name) && product.price == expected.Price)
                #expect(product.category == expected.Category)
                let instant = try #require(instants[expected.ReleaseDate])
                #expect(abs(product.released.timeIntervalSince1970 - instant) < 1e-6)
            }
        }

        @Test func `top ends the pages, a count comes with the first`() async throws {
            let some = try await collect(products.top(120))
            #expect(some.map(\.id) == Array(1...120))
            let page = try await client.page(products.count())
            #expect(page.count == 1_000)
            #expect(page.entities.count == 50 && page.nextLink != nil)
        }

        @Test func `one product, and none`() async throws {
            let product = try await client.fetch(products.key(1))
            #expect(product.id == 1 && product.name == "O'Hara's \"best\" stout 1")
            #expect(try await client.fetchIfPresent(products.key(4_711)) == nil)
            let error = try await serviceError { _ = try await client.fetch(products.key(4_711)) }
            #expect(error.status == 404)
            #expect("\(error)".contains("There is no such product."))
            #expect(error.errorBody is ODataErrorBody)
        }

        @Test func `a link that leads back is an error after its first page`() async throws {
            var count = 0
            let error = try await serviceError {
                for try await _ in client.entities(matching: FetchRequest<Product>(from: "Loop")) { count += 1 }
            }
            #expect(count == 50 || count == 100)
            #expect("\(error)".contains("Loop"))
        }

        @Test func `a link to another origin is refused, or followed if so wished`() async throws {
            let foreign = FetchRequest<Product>(from: "Foreign")
            let error = try await serviceError { _ = try await client.fetch(foreign) }
            #expect("\(error)".contains(try TestServer.named("odata-foreign").url))
            client.foreignLinks = .followWithoutCredentials
            #expect(try await client.fetch(foreign).count == 1_000)
        }

        @Test(arguments: ["Cut", "Broken", "Nowhere"]) func `what is no page is an error of the call`(resource: String) async throws {
            let error = try await serviceError { _ = try await client.fetch(FetchRequest<Product>(from: resource)) }
            #expect("\(error)".contains(resource))
            #expect(error.status == ["Cut": 200, "Broken": 500, "Nowhere": 404][resource])
        }
    }
}
