import Foundation
import ODataGeneration
import Testing

struct GenerationConfigurationTests {
    @Test func everyMemberIsRead() throws {
        let text = """
            {"service": "Store", "document": "a.xml", "references": {"https://example.com/b": "b.xml"}, "access": "public", "files": 4,
             "include": ["A.b", {"type": "A.c", "properties": ["d"], "relations": "all", "derived": ["A.e"]}, {"sets": "f, g"},
                         {"type": "A.h", "relations": 2, "derived": "all"}, {"operations": ["A.i"]}],
             "exclude": ["A.j*"], "names": {"A.b": "Bee"}, "projections": {"Card": {"of": "A.b", "properties": ["k", {"l": ["m"]}]}}}
            """
        let read = try GenerationConfiguration(json: Data(text.utf8), file: "a.odata.json")
        var wanted = GenerationConfiguration()
        wanted.service = "Store"
        wanted.document = "a.xml"
        wanted.references = ["https://example.com/b": "b.xml"]
        wanted.access = .public
        wanted.files = 4
        wanted.include = [
            .types(.init("A.b")), .types(.init("A.c", properties: ["d"], relations: .all, derived: .named(["A.e"]))), .sets(["f", "g"]),
            .types(.init("A.h", relations: .steps(2), derived: .all)), .operations(["A.i"]),
        ]
        wanted.exclude = ["A.j*"]
        wanted.names = ["A.b": "Bee"]
        wanted.projections = [.init("Card", of: "A.b", properties: [.init("k"), .init("l", properties: [.init("m")])])]
        #expect(read == wanted)
    }

    @Test(arguments: [
        ("", "1:1: error: this isn't JSON"),
        ("[]", "1:1: error: a configuration is a JSON object"),
        (#"{"servise": "A"}"#, "1:2: error: a configuration has no 'servise'; did you mean 'service'?"),
        ("{\n \"acess\": \"public\"}", "2:2: error: a configuration has no 'acess'; did you mean 'access'?"),
        ("{\"include\": [],\n \"include\": []}", "2:2: error: there are two members 'include' in one object"),
        (#"{"names": {"Shop.order": "A", "Shop.order": "B"}}"#, "1:31: error: there are two members 'Shop.order' in one object"),
        (#"{"access": "private"}"#, "error: 'access' is internal, package or public, not 'private'"),
        (#"{"files": 0}"#, "error: 'files' is a number from 1 to 64"),
        (#"{"files": true}"#, "error: 'files' is a number from 1 to 64"),
        (#"{"service": "a-b"}"#, "error: 'a-b' can't be a name in Swift"),
        (#"{"service": "OData"}"#, "error: the service can't be called 'OData'"),
        (#"{"include": "Shop.order"}"#, "error: 'include' needs a list"),
        (#"{"include": [7]}"#, "error: an entry of 'include' is the name of a type"),
        (#"{"include": [{"typ": "Shop.order"}]}"#, "error: an entry of 'include' needs 'type', 'sets' or 'operations'"),
        (
            #"{"include": ["Shop.Order"]}"#,
            "error: 'include' names 'Shop.Order', and the document has no such type; did you mean 'Shop.order'?"
        ),
        (#"{"include": ["Shop.x*"]}"#, "error: 'include' has the pattern 'Shop.x*', and no type of the document matches it"),
        (#"{"include": [{"sets": "order"}]}"#, "no such entity set or singleton; did you mean 'orders'?"),
        (#"{"include": [{"operations": ["Shop.cancle"]}]}"#, "no such action or function; did you mean 'Shop.cancel'?"),
        (#"{"include": ["Shop.line", {"operations": ["Shop.cancel"]}]}"#, "no overload of 'Shop.cancel' is bound to an included type"),
        (#"{"include": [{"type": "Shop.order", "relations": ["line"]}]}"#, "has no navigation property 'line'; did you mean 'Lines'?"),
        (#"{"include": [{"type": "Shop.order", "relations": -1}]}"#, "'relations' is \"all\", a number of steps, or a list of names"),
        (#"{"include": [{"type": "Shop.order", "derived": ["Shop.line"]}]}"#, "no type 'Shop.line' is derived from 'Shop.order'"),
        (#"{"include": [{"type": "Shop.order", "properties": ["note"]}]}"#, "has no property 'note'; did you mean 'notes'?"),
        (
            #"{"exclude": ["Shop.adress"]}"#,
            "'exclude' names 'Shop.adress', and the document has no such type; did you mean 'Shop.address'?"
        ),
        (#"{"exclude": ["Shop.item"]}"#, "'Shop.item' can't be excluded: 'Shop.order' is derived from it"),
        (#"{"names": {"Shop.odrer": "Sale"}}"#, "no such name; did you mean 'Shop.order'?"),
        (#"{"names": {"Shop.order": "Line", "Shop.line": "Line"}}"#, "the name 'Shop.Line' is that of Shop.line and Shop.order"),
        (#"{"projections": {"Card": {"of": "Shop.custmer", "properties": ["id"]}}}"#, "no such type; did you mean 'Shop.customer'?"),
        (#"{"projections": {"Card": {"of": "Shop.order", "properties": ["Id"]}}}"#, "no such property; did you mean 'ID'?"),
        (
            #"{"projections": {"Card": {"of": "Shop.order", "properties": [{"ID": ["a"]}]}}}"#,
            "lists properties of 'ID', whose values have none"
        ),
        (#"{"projections": {"Card": {"of": "Shop.order"}}}"#, "the projection 'Card' needs 'of' and 'properties'"),
        (#"{"projections": {"Card": {"of": "Shop.order", "properties": []}}}"#, "the projection 'Card' has no properties"),
    ])
    func faultsNameTheOffenderAndTheFix(_ configuration: String, _ fault: String) {
        let faults = ShopDocument.faults(configuration)
        #expect(faults.contains { $0.hasPrefix("shop.odata.json:") && $0.contains(fault) }, "\(faults)")
    }

    @Test func allFaultsAreReportedAtOnce() {
        #expect(ShopDocument.faults(#"{"include": ["Shop.a"], "exclude": ["Shop.b"], "names": {"Shop.c": "C"}}"#).count == 3)
    }

    @Test func aFaultyDocumentIsReported() throws {
        let cut = ShopDocument.document().dropLast(60)
        #expect(throws: GenerationError.self) { try ShopDocument.generator(nil, Data(cut)) }
        do {
            _ = try ShopDocument.generator(nil, Data("<a/>".utf8))
        } catch let error as GenerationError {
            #expect(error.diagnostics.first?.file == "shop.csdl.xml")
        }
    }

    @Test func deepAndLongConfigurationsDontTrap() {
        let deep = String(repeating: "[", count: 10_000)
        #expect(!ShopDocument.faults(deep).isEmpty)
        var inner = #"["ID"]"#
        for _ in 0..<40 { inner = #"[{"Lines": \#(inner)}]"# }
        #expect(!ShopDocument.faults(#"{"projections": {"Card": {"of": "Shop.order", "properties": \#(inner)}}}"#).isEmpty)
    }
}
