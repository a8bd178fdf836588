import Testing
import WebServiceClient

/// Paths, in each way to declare them.
private final class PathService: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable {
        [
            "whole(value:)": .get("%%value%%").query(["decoy": "1"]).raw(),
            "simple(value:)": uriTemplate("{value}/end"),
            "reserved(value:)": uriTemplate("{+value}/end"),
            "segments(value:)": uriTemplate("a{/value}/end"),
            "label(value:)": uriTemplate("a{.value}/end"),
            "parameter(value:)": uriTemplate("a{;value}/end"),
            "query(value:)": uriTemplate("end{?value}"),
        ]
    }

    private static func uriTemplate(_ text: String) -> EndpointDescriptor { .get(uriTemplate: "/" + text).raw() }
}

extension IntegrationTests {
    /// A value in a path reaches a server that echoes the request's target byte for byte: decoded it is the value, in its place.
    @Suite struct PathInjectionTests {
        /// Deep enough that no value leaves it if the server normalises the path.
        private static let depth = String(repeating: "/d", count: 20)
        /// nginx refuses a NUL in a path in any encoding.
        private static let values = InjectionTests.values.filter { !$0.contains("\0") && !$0.contains("%00") }

        private func tally(
            _ method: String, _ call: @Sendable (DynamicCalls, String) async throws -> String, begin: String, end: String,
            reads: @Sendable (Substring, _ value: String) -> Bool = { isExactly(URLEncoding.decode(String($0)), $1) }
        ) async throws -> InjectionTests.Tally {
            let client = PathService(serviceRoot: try TestServer.named("nginx-echo").url + Self.depth)
            return await InjectionTests.tally(Self.values, key: "\(method)(value:)") { value in
                let target = try await call(client.dynamic, value)
                guard target.hasPrefix(Self.depth + begin), target.hasSuffix(end) else { return false }
                return reads(target.dropFirst(Self.depth.count + begin.count).dropLast(end.count), value)
            }
        }

        /// Returns whether a value's path leads elsewhere if its slashes are kept.
        private static func leadsElsewhere(_ value: String) -> Bool {
            value.split(separator: "/", omittingEmptySubsequences: false).contains { ["", ".", ".."].contains($0) }
        }

        @Test func `as the whole path, whose slashes stay`() async throws {
            let tally = try await tally("whole", { try await $0.whole(value: $1) }, begin: "/", end: "?decoy=1") { text, value in
                isExactly(URLEncoding.decode(String(text)), value)
                    && text.filter { $0 == "/" }.count == value.utf8.filter { $0 == UInt8(ascii: "/") }.count
            }
            let schemes = Self.values.filter { $0.hasPrefix("http://") }
            for value in Self.values where Self.leadsElsewhere(value) || schemes.contains(value) {
                #expect(tally.refused.contains(value), "\(value.debugDescription)")
            }
        }

        @Test func `as a simple expansion, which keeps everything in its segment`() async throws {
            let tally = try await tally("simple", { try await $0.simple(value: $1) }, begin: "/", end: "/end") { text, value in
                isExactly(URLEncoding.decode(String(text)), value) && !text.contains { "/?#".contains($0) }
            }
            #expect(Set(tally.refused) == ["", ".", ".."])
        }

        @Test func `as a reserved expansion, of which nothing is cut off`() async throws {
            // Complete percent triplets in the value are unchanged, and decoded once more here.
            let tally = try await tally("reserved", { try await $0.reserved(value: $1) }, begin: "/", end: "/end") { text, value in
                value.contains("%") || isExactly(URLEncoding.decode(String(text)), value)
            }
            for value in Self.values where value.contains("#") || value.hasPrefix("/") {
                #expect(tally.refused.contains(value), "\(value.debugDescription)")
            }
        }

        @Test func `as segments, labels and parameters`() async throws {
            let segments = try await tally("segments", { try await $0.segments(value: $1) }, begin: "/a/", end: "/end")
            #expect(Set(segments.refused) == ["", ".", ".."])
            let labels = try await tally("label", { try await $0.label(value: $1) }, begin: "/a.", end: "/end")
            #expect(labels.refused.isEmpty)
            let parameters = try await tally("parameter", { try await $0.parameter(value: $1) }, begin: "/a;value", end: "/end") {
                text, value in
                value.isEmpty ? text.isEmpty : isExactly(URLEncoding.decode(String(text.dropFirst())), value)
            }
            #expect(parameters.refused.isEmpty)
        }

        @Test func `as a query expansion`() async throws {
            let tally = try await tally("query", { try await $0.query(value: $1) }, begin: "/end?value=", end: "")
            #expect(tally.refused.isEmpty)
        }
    }
}
