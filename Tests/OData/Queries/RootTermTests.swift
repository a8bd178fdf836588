import OData
import Testing

/// Entities of the service as operands: `$root/Set(key)/Property` (URL Conventions 4.01, section 5.1.1.14.2).
@Suite struct RootTermTests {
    struct Product: Decodable, Sendable, EntityType {
        static let entitySetName = "Products"
        var id: String
        var price: Double
        var maker: Maker?
        enum CodingKeys: String, CodingKey {
            case id = "Id"
            case price = "Price"
            case maker = "Maker"
        }
    }

    struct Maker: Decodable, Sendable {
        var name: String
        enum CodingKeys: String, CodingKey { case name = "Name" }
    }

    private func filter(_ condition: (QueryTerm<Product>) -> QueryTerm<Bool>) throws -> String? {
        let url = try FetchRequest<Product>().filter(condition).selectAll().relativeURL()
        return url.split(separator: "=", maxSplits: 1).last?.removingPercentEncoding
    }

    @Test func `an entity of the service can be an operand`() throws {
        let other = FetchRequest<Product>().key("P'2")
        #expect(try filter { $0.price > QueryTerm.root(other).price } == "Price gt $root/Products('P''2')/Price")
        #expect(try filter { $0.maker.name == QueryTerm.root(other).maker.name } == "Maker/Name eq $root/Products('P''2')/Maker/Name")
        let me = EntityRequest<Product>(at: "Me")
        #expect(try filter { $0.price > QueryTerm.root(me).price } == "Price gt $root/Me/Price")
        let keys = EntityRequest<Product>(resource: ResourcePath(entitySet: "Lines").key(["A": 1, "B": 2]).cast(to: "N.Line"))
        #expect(try filter { $0.price > QueryTerm.root(keys).price } == "Price gt $root/Lines(A=1,B=2)/N.Line/Price")
    }

    @Test func `a path that isn't allowed in an expression is an error`() throws {
        let requests = [
            EntityRequest<Product>(at: "Products('P2')"),
            EntityRequest<Product>(resource: ResourcePath(entitySet: "Products").key("a").value()),
            FetchRequest<Product>().key("a").select(\.price),
        ]
        for request in requests {
            #expect(throws: ODataQueryError.self) { try filter { $0.price > QueryTerm.root(request).price } }
        }
    }
}
