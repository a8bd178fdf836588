import Foundation
import Testing
import WebServiceClient

@testable import WebServiceTesting

/// A private class, whose symbols the runtime doesn't name.
private final class HiddenClient: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable { ["item(id:)": .get("/%%id%%"), "itms()": .get("/")] }

    func item(id: Int) async throws -> Int { try await call(id) }
    func items() async throws -> [Int] { try await call() }
}

/// A client whose methods have a part of the labels of a key.
private final class PartialClient: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable {
        ["search(text:page:)": .get("/search").query("q", .argument("text")).query("page", .argument("page")).optional("page")]
    }

    func search(text: String) async throws -> [Int] { try await call(text) }
    func search(size: Int) async throws -> [Int] { try await call(size) }
}

@Suite struct EndpointMethodsTests {
    /// The report of each fault of ``FaultyClient``.
    private static let told = [
        ("\"artcles(shop:)\"", "the nearest is articles(shop:), which has no key"),
        ("\"article(number:)\"", "no method has these labels; there is article(id:)"),
        ("\"createArticle(shop:article:)\"", "there is createArticle(shop:name:article:)"),
        ("\"vanished()\"", "no method of that name"),
        ("\"ratee\"", "the nearest is rate"),
        ("tagged(tags:)", "argument \"tags\" is Array<String>, which has no text for the path"),
        ("upload(draft:)", "isn't Encodable"),
        ("listed(ids:)", "has no names for the query"),
        ("watched(change:)", "is a function"),
        ("found(data:)", "is Data, which has no text for the query item data"),
        ("picture(id:)", ".raw() decodes nothing"),
        ("removed(id:)", "nothing is decoded at \"result\""),
        ("body(id:)", "nothing is decoded at \"result\""),
        ("unpaged()", "has no pages"),
        ("paged()", "no page is read"),
        ("stored(id:)", "204, which counts as success, has no body"),
        ("events()", ".endsStream(…)"),
        ("socket()", "opens a WebSocket"),
        ("starred(id:)", "has no such key"),
        ("refreshed(id:)", "has no such key"),
    ]

    #if DEBUG && os(Linux)
    @Test func `A method with a part of the labels of a key belongs to it`() throws {
        let report = try #require(EndpointMethodReport.reports(of: [PartialClient.self], ignoring: [], SymbolSearch()).first)
        #expect(report.faults.count == 1 && report.faults[0].hasPrefix("search(size:): calls the table"), "\(report)")
    }

    @Test func `Exactly the faults of a faulty client are reported`() throws {
        #expect(FaultyClient.verify().isEmpty)
        let report = try #require(EndpointMethodReport.reports(of: [FaultyClient.self], ignoring: [], SymbolSearch()).first)
        #expect(report.completeness == .complete)
        for (name, text) in Self.told {
            let lines = report.faults.filter { $0.hasPrefix(name + ":") }
            #expect(lines.count == 1 && lines[0].contains(text), "\(name): \(lines)")
        }
        #expect(report.faults.count == Self.told.count, "\(report)")
        #expect(report.unchecked.isEmpty, "\(report)")
    }

    @Test func `Methods are read with their types`() throws {
        let list = MethodList(of: SoundClient.self)
        #expect(list.completeness == .complete && list.unreadableFiles.isEmpty)
        let hidden = try #require(list.methods.first { $0.name.baseName == "hidden" })
        #expect(hidden.isAsync && hidden.isThrowing && hidden.usesOwnName == true && hidden.parameters == ["Swift.Int"])
        #expect(list.methods.contains { $0.name.description == "rate" && $0.name.isProperty && $0.result == "Swift.Int" })
        #expect(list.methods.contains { $0.name.baseName == "inherited" && $0.owner == "SoundBase" })
        let none = try #require(list.methods.first { $0.name.baseName == "reveal" })
        #expect(none.usesOwnName == false)
    }

    @Test func `A private class and one in a function are read, too`() throws {
        final class LocalClient: WebServiceClient, @unchecked Sendable {
            override class var endpoints: EndpointTable { ["item(id:)": .get("/%%id%%")] }
            func item(id: Int) async throws -> Int { try await call(id) }
            func other(id: Int) async throws -> Int { try await call(id) }
        }
        let reports = EndpointMethodReport.reports(of: [HiddenClient.self, LocalClient.self], ignoring: [], SymbolSearch())
        #expect(reports.map(\.faults.count) == [1, 1], "\(reports)")
        #expect(reports[0].faults.first?.contains("the nearest is items(), which has no key") == true, "\(reports[0])")
        #expect(reports[1].faults.first?.hasPrefix("other(id:): calls the table") == true, "\(reports[1])")
    }
    #endif

    @Test func `A sound client has no faults`() throws {
        #expect(SoundClient.verify().isEmpty)
        let reports = try expectEndpointsMatchMethods(of: SoundClient.self)
        #expect(reports.map(\.client) == ["SoundClient"])
        #if DEBUG && os(Linux)
        #expect(reports[0].unchecked.isEmpty, "\(reports[0])")
        #endif
    }

    @Test func `Ignored keys and methods aren't checked, and an unknown one is a fault`() throws {
        let names = Self.told.map { $0.0.filter { $0 != "\"" } }
        let methods = ["articles(shop:)", "article(id:)", "createArticle(shop:name:article:)", "rate"]
        try expectEndpointsMatchMethods(of: FaultyClient.self, ignoring: names + methods)
        #if DEBUG && os(Linux)
        let error = #expect(throws: TestingFailure.self) {
            try expectEndpointsMatchMethods(of: SoundClient.self, ignoring: ["file(pth:)"])
        }
        #expect(
            error?.description.contains("ignoring \"file(pth:)\": there is no such key or method; the nearest is \"file(path:)\"") == true)
        #endif
    }

    // MARK: Builds that don't tell everything

    @Test func `Files without symbols fail`() throws {
        let files = SymbolSearch().files.map { loaded in
            var file = loaded.file
            file.tables = []
            return LoadedFile(path: loaded.path, bias: loaded.bias, file: file)
        }
        let report = try #require(
            EndpointMethodReport.reports(of: [SoundClient.self], ignoring: [], SymbolSearch(files: files)).first)
        guard case .unreadable(let reason) = report.completeness else { throw TestingFailure("\(report)") }
        #expect(reason.contains("stripped of its symbols") && report.faults.count == 1, "\(report)")
        #expect(report.faults.first?.contains("nothing is checked") == true)
    }

    @Test func `A process without readable files fails`() throws {
        let search = SymbolSearch(files: [], problems: ["/bin/program was replaced while the process runs"])
        let report = try #require(EndpointMethodReport.reports(of: [SoundClient.self], ignoring: [], search).first)
        #expect(report.faults.count == 1 && report.faults[0].contains("/bin/program was replaced"), "\(report)")
    }

    @Test func `An optimized build isn't blamed for methods that it removes`() throws {
        let files = SymbolSearch().files
        let search = SymbolSearch(files: files, isOptimized: true)
        let report = try #require(EndpointMethodReport.reports(of: [FaultyClient.self], ignoring: [], search).first)
        guard case .publicOnly = report.completeness else { return #expect(!report.faults.isEmpty, "\(report)") }
        #expect(!report.faults.contains { $0.hasPrefix("\"vanished()\"") })
        #expect(report.unchecked.contains { $0.contains("vanished()") && $0.contains("optimization") }, "\(report)")
    }

    @Test func `A table without methods isn't taken for a faulty one`() throws {
        final class DynamicClient: WebServiceClient, @unchecked Sendable {
            override class var endpoints: EndpointTable { ["one()": .get("/one"), "two()": .get("/two")] }
        }
        let report = try #require(EndpointMethodReport.reports(of: [DynamicClient.self], ignoring: [], SymbolSearch()).first)
        guard case .unreadable = report.completeness else { throw TestingFailure("\(report)") }
        try expectEndpointsMatchMethods(of: DynamicClient.self, ignoring: ["one()", "two()"])
    }
}
