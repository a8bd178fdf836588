import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

private struct Note: Codable, Sendable {
    var title: String
    var on: Date?
    var tags: [String]
    var replies: [Note]?
}

/// Only `Encodable`.
private struct Receipt: Encodable, Sendable { var number = 1 }

private enum Level: String, Codable, Sendable { case low, high }
private enum Side: String, Codable, Sendable, CaseIterable { case left, right }

private final class NoteClient: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable {
        [
            "note(shop:id:)": .get("/notes/%%shop%%/%%id%%"),
            "swapped(shop:name:)": .get("/notes/%%shop%%/%%name%%"),
            "notes(shop:page:)": .get("/notes/%%shop%%").query("page", .argument(1)).paged(by: .linkHeader),
            "add(id:note:)": .post("/notes/%%id%%"),
            "bill(_:)": .post("/bills"),
            "level(_:)": .get("/levels/%%0%%"),
            "turn(from:to:)": .post("/turn").query("from", .argument(0)).query("to", .argument(1)).withoutBody(),
            "all()": .get("/notes"),
            "events(_:)": .get("/events/%%0%%"),
            "counted(_:by:)": .put("/counts").header("X-By", "%%by%%"),
            "renamed(_:prepare:)": .put("/names/%%0%%").ignoring("prepare").withoutBody(),
            "fixed(a:b:)": .get("/fixed/%%a%%/%%b%%"),
            "raw(_:)": .get("/raw/%%0%%").raw(),
        ]
    }

    func note(shop: String, id: Int) async throws -> Note { try await call(shop, id) }
    func swapped(shop: String, name: String) async throws -> Note { try await call(name, shop) }
    func notes(shop: String, page: Int?) async throws -> Pages<[Note]> { try await call(shop, page) }
    func add(id: UUID, note: Note) async throws { try await call(id, note) }
    func bill(_ receipt: Receipt) async throws -> ServiceResponse<Note> { try await call(receipt) }
    func level(_ level: Level) async throws { try await call(level) }
    func turn(from: Side, to: Side) async throws { try await call(to, from) }
    func all() async throws -> [Note] { try await call() }
    func events(_ channel: Character) async throws -> EventStream<ServerEvent> { try await call(channel) }
    func counted(_ counts: [String: Int], by: Decimal) async throws { try await call(counts, by) }
    func renamed(_ name: String, prepare: Bool) async throws { try await call(name) }
    func fixed(a: String, b: String) async throws -> Note { try await call(a, "sample1x") }
    func raw(_ name: Substring) async throws -> ServiceResponse<ResponseBody> { try await stream(name) }
    func missing(shop: String) async throws -> Note { try await call(shop) }
    func silent(id: Int) async throws {}
    func adHoc(id: Int) async throws { try await http.get("/notes/%%0%%", id).send() }
    func other(shop: String) async throws -> Note { try await call(shop, 1, function: "note(shop:id:)") }
}

@Suite struct CallExpectationTests {
    private let client = NoteClient(serviceRoot: "https://notes.test") { configuration in
        // A dry run sends nothing, so the stub has no answers.
        configuration.transport = StubTransport()
    }

    private func sentence(_ body: () async throws -> Void) async -> String {
        do {
            try await body()
            return "it held"
        } catch {
            return "\(error)"
        }
    }

    @Test func `Methods that pass on their arguments in order have no faults`() async throws {
        try await expectCall(NoteClient.note(shop:id:), on: client)
        try await expectCall(NoteClient.notes(shop:page:), on: client)
        try await expectCall(NoteClient.add(id:note:), on: client)
        try await expectCall(NoteClient.all, on: client)
        try await expectCall(NoteClient.events(_:), on: client)
        try await expectCall(NoteClient.counted(_:by:), on: client)
        try await expectCall(NoteClient.renamed(_:prepare:), on: client)
        try await expectCall(NoteClient.raw(_:), on: client)
    }

    @Test func `Exchanged arguments are reported with both requests`() async {
        let text = await sentence { try await expectCall(NoteClient.swapped(shop:name:), on: client) }
        #expect(text.hasPrefix("swapped(shop:name:):"))
        #expect(text.contains("found https://notes.test/notes/sample1/sample0, expected https://notes.test/notes/sample0/sample1"))
        let sides = await sentence { try await expectCall(NoteClient.turn(from:to:), on: client) }
        #expect(sides.contains("from=right&to=left") && sides.contains("from=left&to=right"), "\(sides)")
        let fixed = await sentence { try await expectCall(NoteClient.fixed(a:b:), on: client) }
        #expect(fixed.contains("/fixed/sample0/sample1x"), "\(fixed)")
    }

    @Test func `A missing key, no call and another call are reported`() async {
        let missing = await sentence { try await expectCall(NoteClient.missing(shop:), on: client) }
        #expect(missing.contains("no entry \"missing(shop:)\""), "\(missing)")
        let silent = await sentence { try await expectCall(NoteClient.silent(id:), on: client) }
        #expect(silent.contains("made no call"), "\(silent)")
        let adHoc = await sentence { try await expectCall(NoteClient.adHoc(id:), on: client) }
        #expect(adHoc.contains("without a key of the table"), "\(adHoc)")
        let other = await sentence { try await expectCall(NoteClient.other(shop:), on: client) }
        #expect(other.contains("has 1 arguments, but it calls \"note(shop:id:)\", which has 2"), "\(other)")
    }

    @Test func `The caller can pass values that can't be invented`() async throws {
        let bill = await sentence { try await expectCall(NoteClient.bill(_:), on: client) }
        #expect(bill.contains("No value of Receipt for argument 0 can be invented; pass one with giving:"), "\(bill)")
        try await expectCall(NoteClient.bill(_:), on: client, giving: Receipt())
        let level = await sentence { try await expectCall(NoteClient.level(_:), on: client) }
        #expect(level.contains("No value of Level"), "\(level)")
        try await expectCall(NoteClient.level(_:), on: client, giving: Level.low)
        let unused = await sentence { try await expectCall(NoteClient.all, on: client, giving: 1) }
        #expect(unused.contains("the sample Int fits no argument"), "\(unused)")
    }

    @Test func `Secrets of the client aren't in the errors`() async {
        let secret = NoteClient(serviceRoot: "https://notes.test") {
            $0.transport = StubTransport()
            $0.headers["Authorization"] = "Bearer hush"
        }
        let text = await sentence { try await expectCall(NoteClient.swapped(shop:name:), on: secret) }
        #expect(text.contains("found") && !text.contains("hush"))
    }
}
