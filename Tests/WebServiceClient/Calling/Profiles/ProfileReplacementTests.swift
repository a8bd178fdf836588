import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct ProfileReplacementTests {
    private final class Library: WebServiceClient, @unchecked Sendable {
        override class var endpoints: EndpointTable { ["list()": .get("/list"), "book(id:)": .get("/books/%%0%%")] }
        override class var defaults: EndpointDefaults { EndpointDefaults(serviceRoot: "https://api.test") }
        func list() async throws -> String { try await call() }
        func book(id: Int) async throws -> String { try await call(id) }
    }

    private static func profile(_ path: String, name: String = "list()", version: Int? = nil) throws -> ServiceProfile {
        var value: [String: Any] = ["Resources": [["Name": name, "URITemplate": path]]]
        value["Version"] = version
        return try ServiceProfile(dictionary: value)
    }

    private static func path(of client: Library) async throws -> String {
        try await client.dryRun { _ = try await $0.list() }.url.path()
    }

    @Test func `Each profile is a generation, and the last three are kept`() throws {
        let client = Library()
        #expect(client.profileHistory.map(\.number) == [0] && client.profileHistory[0].profile == nil)
        for number in 1...5 { try client.replaceProfile(Self.profile("/v\(number)", version: number)) }
        #expect(client.profileHistory.map(\.number) == [3, 4, 5])
        #expect(client.profileHistory.compactMap { $0.profile?.version } == [3, 4, 5])
        #expect(client.profileHistory.last?.description == "generation 5, version 5 of the profile")
        try client.replaceProfile(nil)
        #expect(client.profileHistory.map(\.number) == [4, 5, 6] && client.profile == nil)
        #expect(client.profileHistory.last?.description == "generation 6, without a profile")
        let made = Library(profile: try Self.profile("/v9"))
        #expect(made.profileHistory.map(\.number) == [0] && made.profile != nil)
    }

    @Test func `A rollback restores the previous profile with its number, and the next profile gets a new one`() async throws {
        let client = Library()
        try client.replaceProfile(Self.profile("/v1"))
        try client.replaceProfile(Self.profile("/v2"))
        #expect(try client.rollBackProfile()?.number == 1)
        #expect(try await Self.path(of: client) == "/v1" && client.profileHistory.map(\.number) == [0, 1])
        try client.replaceProfile(Self.profile("/v3"))
        #expect(client.profileHistory.map(\.number) == [0, 1, 3])
        #expect(try client.rollBackProfile()?.number == 1)
        #expect(try client.rollBackProfile()?.number == 0)
        #expect(try await Self.path(of: client) == "/list")
        #expect(try client.rollBackProfile() == nil)
        #expect(client.profileHistory.map(\.number) == [0])
    }

    @Test func `A refused profile changes nothing, and neither does a rollback to a profile that doesn't fit any more`() async throws {
        let client = Library { $0.allowedOrigins = ["https://eu.test"] }
        let moved = try ServiceProfile(
            dictionary: ["BaseURL": "https://eu.test", "Resources": [["Name": "list()", "URITemplate": "/eu"]]])
        try client.replaceProfile(moved)
        let unfit = try Self.profile("/x/{id}", name: "book")
        try client.replaceProfile(unfit)
        let bad = try Self.profile("/x/{name}", name: "book")
        #expect(throws: TableFaults.self) { try client.replaceProfile(bad) }
        #expect(client.profileHistory.map(\.number) == [0, 1, 2])
        client.configure { $0.allowedOrigins = [] }
        #expect(throws: TableFaults.self) { try client.rollBackProfile() }
        #expect(client.profileHistory.map(\.number) == [0, 1, 2])
        #expect(try await client.dryRun { _ = try await $0.book(id: 5) }.url.path() == "/x/5")
    }

    @Test func `Each call has the number of its generation`() async throws {
        let numbers = Locked<[Int]>([])
        let stub = StubTransport()
        stub.fallback(.text("x"))
        let client = Library {
            $0.transport = stub
            $0.interceptors = [RequestPreparer { _, context in numbers.withLock { $0.append(context.profileGeneration) } }]
        }
        _ = try await client.list()
        try client.replaceProfile(Self.profile("/v1"))
        _ = try await client.list()
        try client.replaceProfile(Self.profile("/v2"))
        _ = try await client.list()
        _ = try await client.http.get("/other").value(String.self)
        try client.rollBackProfile()
        _ = try await client.list()
        #expect(numbers.withLock { $0 } == [0, 1, 2, 2, 1])
    }

    @Test func `Concurrent changes leave a profile and a history that fit each other`() async throws {
        let client = Library()
        await withTaskGroup(of: Void.self) { group in
            for number in 1...40 {
                group.addTask {
                    if number.isMultiple(of: 4) { _ = try? client.rollBackProfile() }
                    if number.isMultiple(of: 5) { client.configure { $0.bodyLimit = number } }
                    if let profile = try? Self.profile("/v\(number)", version: number) { try? client.replaceProfile(profile) }
                }
            }
        }
        let history = client.profileHistory
        #expect(history.count <= 3 && history.map(\.number) == history.map(\.number).sorted())
        #expect(history.last?.profile?.version == client.profile?.version)
        #expect(try await Self.path(of: client) == "/v\(try #require(client.profile?.version))")
    }

    @Test func `The changes between profiles are those of method, route and root`() throws {
        func changes(_ old: ServiceProfile?, _ new: ServiceProfile) -> ProfileChanges {
            ProfileChanges(of: Library.endpoints, from: old, to: new)
        }
        let (list, book) = try (MethodName("list()"), MethodName("book(id:)"))
        let first = try Self.profile("/v1")
        #expect(changes(nil, first).include(list) && !changes(nil, first).include(book))
        #expect(changes(first, first).isEmpty)
        let bare = changes(first, try Self.profile("/b/{id}", name: "book"))
        #expect(bare.include(book) && bare.include(list))
        let based = try ServiceProfile(
            dictionary: ["BaseURL": "https://api.test/v2", "Resources": [["Name": "list()", "URITemplate": "/v1"]]])
        #expect(changes(first, based).include(book))
    }
}
