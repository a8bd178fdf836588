import Foundation
import ODataGeneration
import TestSupport
import Testing

struct CodeGeneratorTests {
    @Test func theTableListsTypesWithTheirProperties() throws {
        let code = try ShopDocument.code()
        #expect(
            code.contains(
                """
                        complex Shop.address
                         City Edm.String
                         land Edm.String
                        type Shop.customer key id
                         id Edm.String!
                         home Shop.address
                         orders > [Shop.order]
                        type Shop.giftOrder : Shop.order
                         wish Edm.String
                        type Shop.item abstract key ID
                         ID Edm.Int32!
                         created Edm.DateTimeOffset computed
                """))
        #expect(code.contains(" Lines > [Shop.line]\n         customer > Shop.customer\n"))
        #expect(code.contains(" hashValue Edm.String!\n         notes [Edm.String]!\n"))
        #expect(
            code.contains("        type Shop.line key No art\n         No Edm.Int32!\n         art Edm.String!\n"),
            "the key is in its own order")
        #expect(code.contains("        flags Shop.rights\n         read 1\n         write 2\n"))
    }

    @Test func modelsDescribeProperties() throws {
        let code = try ShopDocument.code()
        for line in [
            "    struct GiftOrderModel: Shop.OrderProperties {", "    typealias GiftOrder = OData.ODataItem<Shop.GiftOrderModel>",
            "    protocol OrderProperties: Shop.ItemProperties {}", "extension Shop.OrderProperties {",
            "    /// The <usual> way.\n    var `default`: OData.ItemField<String> { .init(\"default\") }",
            "    var hashValue_: OData.ItemField<String> { .init(\"hashValue\") }",
            "    @available(*, deprecated, message: \"Use ID.\")\n    var request_id: OData.ItemField<OData.EdmGuid> { .init(\"request-id\") }",
            "    var place: OData.ItemField<Shop.Address> { .init(\"Place\") }", "    var scan: OData.ItemStream { .init(\"scan\") }",
            "    var lines: OData.ItemMany<Shop.LineModel> { .init(\"Lines\") }",
            "    var customer: OData.ItemOne<Shop.CustomerModel> { .init(\"customer\") }",
            "    static var none_: Self { .init(\"none\") }",
            "    static var open: Self { .init(\"Open\") }".replacingOccurrences(of: "open:", with: "`open`:"),
            "    static var `private`: Self { .init(\"private\") }", "    static var read: Self { .init(rawValue: 1) }",
            "    static func key(no: Int32, art: String) -> OData.ItemKey<Model> { .init([\"No\": no, \"art\": art]) }",
            "extension OData.ODataItem where Model: Shop.ItemProperties {\n    static func key(_ id: Int32)",
        ] {
            #expect(code.contains(line), "\(line)")
        }
    }

    @Test func theClientHasSetsAndOperations() throws {
        let code = try ShopDocument.code()
        for line in [
            "class ShopClient: OData.ODataClient, @unchecked Sendable {",
            "    var orders: OData.FetchRequest<Shop.Order> { .init(resource: OData.ResourcePath(entitySet: \"orders\")) }",
            "    var types_: OData.FetchRequest<Shop.Customer> { .init(resource: OData.ResourcePath(entitySet: \"types\")) }",
            "    var me: OData.EntityRequest<Shop.Customer> { .init(resource: OData.ResourcePath(singleton: \"me\")) }",
            "    func cancel<Model: Shop.OrderProperties>(on: OData.EntityRequest<OData.ODataItem<Model>>, reason: String? = nil, "
                + "on_: OData.EdmDate) async throws {",
            "    func newest<Model: Shop.OrderProperties>(on: OData.FetchRequest<OData.ODataItem<Model>>, count: Int32? = nil) "
                + "async throws -> [Shop.Order] {",
            "    func newestRequest<Model: Shop.OrderProperties>(", "    func total(year: Int16) async throws -> OData.EdmDecimal {",
            "OData.OperationCall(action: \"Shop.cancel\", on: on, [OData.OperationArgument(optional: \"Reason\", reason), "
                + "OData.OperationArgument(\"on\", on_)])",
        ] {
            #expect(code.contains(line), "\(line)")
        }
    }

    @Test func typesThatArentIncludedStayUntyped() throws {
        let code = try ShopDocument.code(#"{"include": ["Shop.order"]}"#)
        #expect(code.contains("var lines: OData.ItemMany<OData.UntypedModel>"))
        #expect(code.contains("var me: OData.EntityRequest<OData.ODataItem<OData.UntypedModel>>"))
        #expect(code.contains("derived Shop.giftOrder : Shop.order"))
        #expect(!code.contains("LineModel"))
    }

    @Test func projectionsArePlainStructures() throws {
        let code = try ShopDocument.code(
            #"{"projections": {"Card": {"of": "Shop.order", "properties": ["ID", "state", {"Place": ["City"]}, {"Lines": ["No"]}]}}}"#)
        for line in [
            "    struct Card: Codable, Hashable, Sendable {", "        var id: Int32", "        var state: Shop.State?",
            "        var place: Place?", "        var lines: OData.ToMany<Lines>", "            case id = \"ID\"",
            "        struct Place: Codable",
        ] {
            #expect(code.contains(line), "\(line)")
        }
    }

    @Test func accessAndNamesAreThoseOfTheConfiguration() throws {
        let code = try ShopDocument.code(
            #"{"service": "Store", "access": "public", "names": {"Shop.order": "Sale", "Shop.order/default": "usual", "Shop.All/types": "kinds"}}"#
        )
        #expect(code.contains("public import OData"))
        #expect(code.contains("open class StoreClient"))
        #expect(code.contains("    public typealias Sale = OData.ODataItem<Store.SaleModel>"))
        #expect(code.contains("    public var usual: OData.ItemField<String> { .init(\"default\") }"))
        #expect(code.contains("    public var kinds: OData.FetchRequest<Store.Customer>"))
    }

    @Test func theOrderOfTheDocumentHasNoEffect() throws {
        let code = try ShopDocument.code()
        #expect(try ShopDocument.code() == code)
        var random = SeededGenerator(seed: 3)
        for _ in 0..<Sweep.rounds(ofAll: 20) {
            #expect(try ShopDocument.code(nil, ShopDocument.document(ShopDocument.elements.shuffled(using: &random))) == code)
        }
    }

    @Test func severalFilesHaveTheSameDeclarations() throws {
        let files = try ShopDocument.generator(#"{"files": 3}"#).files()
        #expect(files.map(\.name) == ["shop.odata.swift", "shop.odata.2.swift", "shop.odata.3.swift"])
        let lines = { (text: String) in text.split(separator: "\n").filter { $0.contains("struct ") || $0.contains("typealias ") }.sorted()
        }
        #expect(try lines(files.map(\.text).joined()) == lines(ShopDocument.code()))
    }

    @Test func aLargeDocumentNeedsAnIncludeList() throws {
        let many = (0...CodeGenerator.maximumTypes).map {
            "<ComplexType Name=\"c\($0)\"><Property Name=\"a\" Type=\"Edm.String\"/></ComplexType>"
        }
        let document = ShopDocument.document(many)
        #expect(throws: GenerationError.self) { try ShopDocument.generator(nil, document) }
        let generator = try ShopDocument.generator(#"{"include": ["*"]}"#, document)
        #expect(generator.warnings.contains { $0.message.contains("\"files\": 16") })
    }

    @Test func aPropertyThatAKeyHasTwiceIsDeclaredOnce() throws {
        let key = #"<Key><PropertyRef Name="id"/><PropertyRef Name="id"/></Key>"#
        let type = #"<EntityType Name="twice">\#(key)<Property Name="id" Type="Edm.Int32" Nullable="false"/></EntityType>"#
        let text = try ShopDocument.generator(nil, ShopDocument.document([type])).files()[0].text
        #expect(text.components(separatedBy: "var id: OData.ItemField<Int32>").count == 2)
    }

    @Test func hostileDescriptionsStayComments() throws {
        let document = ShopDocument.document([
            """
            <ComplexType Name="a"><Annotation Term="Core.Description" String="x */ &#10; fatalError() &#8232; y &#8238;"/>
            <Property Name="b&quot;\\(c)" Type="Edm.String"/></ComplexType>
            """
        ])
        let code = try ShopDocument.code(nil, document)
        #expect(code.contains("    /// x */\n    /// fatalError()\n    /// y\n") || code.contains("    /// x */ fatalError()"))
        #expect(code.contains(#".init("b\"\\(c)")"#))
        #expect(code.contains(" b%22%5C(c) Edm.String"))
    }

    @Test func editedFilesArentOverwritten() throws {
        let folder = TemporaryFolder()
        let file = try #require(try ShopDocument.generator().files().first)
        let url = folder.url.appendingPathComponent(file.name)
        #expect(try file.write(to: folder.url) == .written)
        #expect(try file.write(to: folder.url) == .unchanged)
        try Data((file.text + "// mine\n").utf8).write(to: url)
        #expect(try file.write(to: folder.url) == .refused)
        #expect(try String(contentsOf: url, encoding: .utf8).hasSuffix("// mine\n"))
        #expect(try file.write(to: folder.url, force: true) == .written)
        // An older version without edits is replaced.
        let other = try #require(try ShopDocument.generator(#"{"access": "public"}"#).files().first)
        #expect(try other.write(to: folder.url) == .written)
        #expect(GeneratedFile.isUnedited(file.text.replacingOccurrences(of: "\n", with: "\r\n")))
        #expect(!GeneratedFile.isUnedited("struct A {}"))
    }

    @Test func aFileThatCantBeReadIsRefused() throws {
        let folder = TemporaryFolder()
        let file = try #require(try ShopDocument.generator().files().first)
        // A folder can't be read as a file, not even by the superuser.
        try FileManager.default.createDirectory(at: folder.url.appendingPathComponent(file.name), withIntermediateDirectories: true)
        #expect(try file.write(to: folder.url) == .refused)
    }

    @Test func theHeadingIsOneLine() throws {
        let generator = try CodeGenerator(
            .init(
                document: ShopDocument.document(), named: "a\nb\r\u{2028}\u{85}c.csdl.xml", configuration: Data("{}".utf8),
                named: "d\nfatalError()\u{202E}.json", stem: "shop"))
        let text = try #require(generator.files().first).text
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        #expect(lines[0].hasPrefix("// Generated by odata-generator") && lines[0].contains("abc.csdl.xml"))
        #expect(lines[0].contains("dfatalError().json") && lines[1].hasPrefix("// Content hash: "))
        #expect(GeneratedFile.isUnedited(text))
    }

    @Test func warningsAreInTheOrderOfTheNames() throws {
        let types = ["b", "B", "a", "A", "c", "C"].map { "<ComplexType Name=\"\($0)\"/>" }
        let messages = try ShopDocument.generator(nil, ShopDocument.document(types)).warnings.map(\.message)
        #expect(messages.count == 6 && messages == messages.sorted())
        #expect(try ShopDocument.generator(nil, ShopDocument.document(types.reversed())).warnings.map(\.message) == messages)
    }

    @Test func filesAreFoundByTheirNames() throws {
        let folder = TemporaryFolder()
        let document = folder.url.appendingPathComponent("shop.csdl.xml")
        try ShopDocument.document().write(to: document)
        #expect(try CodeGenerator.Input(file: document.path).configuration == nil)
        let configuration = folder.url.appendingPathComponent("shop.odata.json")
        try Data("{}".utf8).write(to: configuration)
        #expect(try CodeGenerator.Input(file: document.path).configuration != nil)
        #expect(try CodeGenerator.Input(file: configuration.path).stem == "shop")
        try Data(#"{"document": "none.xml"}"#.utf8).write(to: configuration)
        #expect(throws: GenerationError.self) { try CodeGenerator.Input(file: configuration.path) }
        #expect(throws: GenerationError.self) { try CodeGenerator.Input(file: folder.url.path + "/none.csdl.xml") }
    }

    @Test func theListingCountsTypes() throws {
        let generator = try ShopDocument.generator()
        let lines = CodeGenerator.listing(of: generator.model).split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("orders") && $0.contains("Shop.order") && $0.contains("  3  ") })
        #expect(try generator.explanation(of: "Shop.Code", file: "f").contains("type definition"))
        #expect(throws: GenerationError.self) { try generator.explanation(of: "Shop.x", file: "f") }
    }
}
