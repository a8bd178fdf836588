import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct URITemplateBindingTests {
    private func offender(_ template: String, _ arguments: [(any Sendable)?]) async -> String? {
        let error = await serviceError {
            _ = try await url { ServiceCall(client: $0, descriptor: .get(uriTemplate: template), arguments: arguments) }
        }
        return (error?.cause as? ArgumentError)?.argument
    }

    @Test(arguments: ["Q1#draft", "#", "a/b#c"]) func `A fragment in a reserved value is refused, since it is never sent`(value: String)
        async throws
    {
        #expect(await offender("/files/{+0}", [value]) == "argument 0")
        #expect(await offender("/files/{+0}/{+1}{?2}", ["a", value, "c#d"]) == "argument 1")
        let sent = try await url { $0.http.get(uriTemplate: "/files/{0}", value) }
        #expect(sent.contains("%23"))
    }

    @Test func `Brackets are encoded, and escapes beside them once`() async throws {
        #expect(try await url { $0.http.get(uriTemplate: "/a/{+0}{?1}", "[é]", "ü[") } == "https://api.test/v1/a/%5B%C3%A9%5D?1=%C3%BC%5B")
        #expect(await offender("/{+0}", ["/a"]) == "argument 0")
        #expect(try await url { $0.http.get(uriTemplate: "{+0}", "/a/b") } == "https://api.test/v1/a/b")
        #expect(try await url { $0.http.get(uriTemplate: "//a/{0}", "b") } == "https://api.test/v1/a/b")
        #expect(await serviceError { _ = try await url { $0.http.get(uriTemplate: "/a/../{0}", "b") } }?.kind == .table)
    }

    @Test func `The argument that makes a dot segment is named`() async {
        #expect(await offender("/{0}/{1}", ["x", ".."]) == "argument 1")
        #expect(await offender("/{0}/{1}", ["..", "x"]) == "argument 0")
        #expect(await offender("/a{/0,1}/{2}", ["x", ".", "y"]) == "argument 1")
        #expect(await offender("/.{0}/{1}", [".", "x"]) == "argument 0")
        #expect(await offender("/{+0}{?1}", ["a/../b", "x"]) == "argument 0")
    }
}
