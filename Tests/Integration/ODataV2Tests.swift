import Foundation
import OData
import Testing
import WebServiceClient

private struct Product: Codable, Equatable, Sendable, EntityType {
    static let entitySetName = "Products"
    var ID: Int32
    var Name: String
    var Note: String?
    var Price: EdmDecimal?
    var Weight: Double?
    var Stock: Int64?
    var Sold: Bool?
    var Code: UUID?
    var Seal: Data?
    var Released: Date?
}

private struct Category: Codable, Sendable, EntityType {
    static let entitySetName = "Categories"
    var Code: String
    var Title: String?
    var Products: ToMany<Product>
}

private struct Categorized: Decodable, Sendable {
    var ID: Int32
    var Category: ToOne<Kind>

    struct Kind: Decodable, Sendable {
        var Code: String
        var Title: String?
    }
}

extension IntegrationTests {
    /// Version 2 in pyslet's implementation: thirty-five products in pages of ten, and what is written to it.
    @Suite struct ODataV2Tests {
        private let client: ODataClient
        private let products = FetchRequest<Product>()
        private let names = [
            "Plain", "O'Hara's \"best\"", "A & B + C", "50 % off / new", "Größe ø — 北京", "tab\tand\nline", "#1? yes; (no)=maybe",
        ]

        init() throws {
            client = ODataClient(serviceRoot: try TestServer.named("odata2").url)
            client.printer = QueryPrinter(version: .v2)
        }

        /// Returns the keys that a query selects, among those that exist at each start of the server.
        private func keys(_ request: FetchRequest<Product>) async throws -> [Int32] {
            var keys: [Int32] = []
            for try await product in client.entities(matching: request) where product.ID <= 35 { keys.append(product.ID) }
            return keys
        }

        private func expected(_ isSelected: (Int32) -> Bool) -> [Int32] { (1...35).filter(isSelected) }

        // MARK: Reading

        @Test func `all pages are followed, streamed and whole`() async throws {
            #expect(try await keys(products) == Array(1...35))
            client.streamsPages = false
            #expect(try await keys(products) == Array(1...35))
            let first = try await client.page(products.filter { $0.ID <= 35 }.count())
            #expect(first.entities.count == 10 && first.nextLink != nil && first.count == 35)
            #expect(try await client.count(of: products.filter { $0.ID <= 35 }) == 35)
        }

        @Test func `every value is the one that the service holds`() async throws {
            for id in [1, 2, 5, 12, 35] as [Int32] {
                let product = try await client.fetch(products.key(id))
                #expect(product.Name == "\(names[Int(id) % 7]) \(id)")
                #expect(product.Note == (id % 3 == 0 ? nil : "note \(id)"))
                #expect(product.Price == EdmDecimal("\(Double(id) / 4)"))
                #expect(product.Weight == Double(id) / 2)
                #expect(product.Stock == 9_007_199_254_740_993 + Int64(id))
                #expect(product.Sold == (id % 2 == 0))
                #expect(product.Code?.uuidString.hasSuffix(String(format: "%012X", id)) == true)
                #expect(product.Seal == Data([0xFB, 0xFF, UInt8(id)]))
                let instant = String(format: "20%02d-02-28T12:30:%02dZ", id % 30, id)
                let released = try Date(instant, strategy: .iso8601)
                #expect(product.Released == released + 0.5)
            }
        }

        @Test func `filters select what they say`() async throws {
            for (number, name) in names.enumerated() {
                let wanted = expected { Int($0) % 7 == number }
                #expect(try await keys(products.filter { $0.Name.hasPrefix(name) }) == wanted, "\(name)")
                #expect(try await keys(products.filter { $0.Name.contains(name) }) == wanted, "\(name)")
                if let id = wanted.first { #expect(try await keys(products.filter { $0.Name == "\(name) \(id)" }) == [id]) }
            }
            #expect(try await keys(products.filter { $0.Stock > 9_007_199_254_741_020 }) == expected { $0 > 27 })
            #expect(try await keys(products.filter { $0.Price == EdmDecimal("2.25") }) == [9])
            #expect(try await keys(products.filter { $0.Weight < 2.5 && $0.Sold == true }) == [2, 4])
            #expect(try await keys(products.filter { $0.Code == UUID(uuidString: "00000000-0000-0000-0000-000000000002") }) == [2])
            #expect(try await keys(products.filter { [3, 5].contains($0.ID) || $0.ID != 34 && $0.ID > 33 }) == [3, 5, 35])
            #expect(try await keys(products.filter { $0.ID * 2 - 1 == 21 }) == [11])
        }

        @Test func `orders, bounds and selections hold`() async throws {
            let some = products.filter { $0.ID <= 35 }
            #expect(try await keys(some.order(by: .descending(\.Price)).skip(1).top(2)) == [34, 33])
            #expect(try await keys(some.order(by: .ascending(\.Sold), .descending(\.ID)).top(3)) == [35, 33, 31])
            #expect(try await keys(some.top(25)) == Array(1...25))
        }

        @Test func `relations come along, or behind their links`() async throws {
            let plain = try await client.fetch(FetchRequest<Categorized>(from: "Products").key(1))
            #expect(!plain.Category.isLoaded)
            #expect(try await client.entity(of: plain.Category)?.Code == "it's")
            let expanded = try await client.fetch(FetchRequest<Categorized>(from: "Products").expand(\.Category).key(2))
            #expect(expanded.Category.value?.Code == "ö" && expanded.Category.value?.Title == nil)
            let category = try await client.fetch(FetchRequest<Category>().key("a/b"))
            #expect(category.Title == "Slashed" && !category.Products.isLoaded)
            var keys: [Int32] = []
            for try await product in client.entities(of: category.Products) where product.ID <= 35 { keys.append(product.ID) }
            #expect(keys.sorted() == expected { $0 % 3 == 0 })
        }

        @Test func `what isn't there is nil or the service's error`() async throws {
            #expect(try await client.fetchIfPresent(products.key(4_711)) == nil)
            let error = try await serviceError { _ = try await client.fetch(products.key(4_711)) }
            #expect(error.status == 404 && (error.errorBody as? ODataErrorBody)?.message.contains("4711") == true)
            let refused = try await serviceError { _ = try await client.fetch(FetchRequest<Product>(from: "Nothing")) }
            #expect(refused.status == 404 && refused.errorBody is ODataErrorBody)
        }

        // MARK: Writing

        @Test func `an entity is created, changed, replaced and deleted`() async throws {
            let id = Int32.random(in: 1_000...2_000_000_000)
            // Without an instant: the server reads only the first digit of an instant in JSON.
            let product = Product(
                ID: id, Name: "Ünïcode & 'quotes' \\ \"\u{1F600}\"", Note: nil, Price: EdmDecimal("1234567890123.4567"), Weight: 0.1,
                Stock: .max, Sold: true, Code: UUID(), Seal: Data([0, 0xFF, 0x3E]))
            let request = products.key(id)
            let created = try await client.create(product, in: products)
            #expect(created.status == 201 && created.entity?.value == product)
            #expect(created.location?.absoluteString.hasSuffix("Products(\(id))") == true)
            #expect(try await client.fetch(request) == product)

            // Not with a draft, which contains only changes: this server requires the key as well, and treats missing values as null.
            _ = try await client.update(
                request, setting: ["ID": .integer(Int64(id)), "Name": "Changed", "Sold": .null, "Stock": .string("\(Int64.min)")])
            let changed = try await client.fetch(request)
            #expect(changed.Name == "Changed" && changed.Sold == nil && changed.Stock == .min)

            let replacement = Product(ID: id, Name: "Replaced")
            _ = try await client.replace(request, with: replacement)
            #expect(try await client.fetch(request) == replacement)

            try await client.set(\.Name, of: request, to: "Alone")
            #expect(try await client.fetch(request).Name == "Alone")

            try await client.delete(request)
            #expect(try await client.fetchIfPresent(request) == nil)
            #expect(try await serviceError { try await client.delete(request) }.status == 404)
        }

        @Test func `entities are bound, and references set and removed`() async throws {
            // The form that this server accepts; Olingo accepts the default.
            client.v2Bindings = .metadata
            let id = Int32.random(in: 1_000...2_000_000_000)
            let request = products.key(id)
            func category() async throws -> String? {
                try await client.fetch(FetchRequest<Categorized>(from: "Products").expand(\.Category).key(id)).Category.value?.Code
            }
            func reference(_ code: String) -> EntityReference { EntityReference(FetchRequest<Category>().key(code)) }
            let relation = products.resource.key(id).property("Category")
            _ = try await client.create(
                Product(ID: id, Name: "Bound"), in: products, binding: [EntityBinding("Category", to: reference("it's"))])
            #expect(try await category() == "it's")
            // The server rejects a percent-encoded reference beyond ASCII.
            try await client.setReference(relation, to: reference("a/b"))
            #expect(try await category() == "a/b")
            try await client.removeReference(relation)
            #expect(try await category() == nil)
            try await client.delete(request)
        }
    }
}
