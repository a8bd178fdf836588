import Foundation
import WebServiceClient
import WebServiceTesting

/// Request targets, which are sent unchanged.
enum TargetCases {
    static let all = [
        ConformanceCase("targets/plain", "The target is sent unchanged: escapes, empty segments, signs.", run: plain),
        ConformanceCase("targets/dot-segments", "Dot segments are sent unchanged, including escaped ones.", run: dotSegments),
        ConformanceCase("targets/slashes", "A path that begins with two slashes is sent unchanged.", run: slashes),
        ConformanceCase("targets/query", "A query is sent unchanged, even if it is empty.", run: query),
        ConformanceCase("targets/fragment", "A fragment isn't sent.", run: fragment),
        ConformanceCase("targets/long", "A target of 60 kB is sent whole.", run: long),
        ConformanceCase("targets/root", "A URL without a path asks for /.", run: root),
    ]

    /// Demands that these targets reach the server unchanged. Targets that Foundation's URL changes are left out.
    private static func same(_ targets: [String], _ subject: ConformanceSubject) async throws {
        try await answering(with: .text("ok")) { server in
            var changed: [String] = []
            for target in targets {
                let request = try server.request(.get, target)
                guard request.url.absoluteString.dropFirst(server.url.absoluteString.count) == target else {
                    changed.append(target)
                    continue
                }
                try await subject.expect(200, "ok", for: request, "“\(target.prefix(60))”")
                try demand(server.requests.last?.target, is: target, "The target, as received")
            }
            guard changed.count < targets.count else { throw ConformanceSkip("Foundation's URL changes all of them: \(changed).") }
        }
    }

    @Sendable private static func plain(_ subject: ConformanceSubject) async throws {
        let targets = [
            "/", "/a", "/a/", "/a//b", "/a///", "/%2F%2f/%25/%C3%A9/%ff", "/a%20b+c", "/:@!$&'()*+,;=-._~", "/a;b=c;d/e", "/%41%7e",
        ]
        try await same(targets, subject)
    }

    @Sendable private static func dotSegments(_ subject: ConformanceSubject) async throws {
        try await same(["/a/../b", "/./a/.", "/a/b/..", "/%2e%2E/a", "/a/%2e/b", "/...", "/a/..b/.c"], subject)
    }

    @Sendable private static func slashes(_ subject: ConformanceSubject) async throws {
        try await same(["//", "//a/b", "///", "//127.0.0.1/a"], subject)
    }

    @Sendable private static func query(_ subject: ConformanceSubject) async throws {
        try await same(["/?", "/?a=b&a=b", "/?a?b/c:@!$'()*,;d", "/p?%26=%3D&+=%2B&&=", "/?x=../..", "/?q=%E2%82%AC", "/p?a=b="], subject)
    }

    @Sendable private static func fragment(_ subject: ConformanceSubject) async throws {
        try await answering(with: .text("ok")) { server in
            for (given, sent) in [("/a#b", "/a"), ("/a?b=c#d/../e?f", "/a?b=c"), ("/#", "/")] {
                try await subject.expect(200, "ok", for: try server.request(.get, given), given)
                try demand(server.requests.last?.target, is: sent, "The target of \(given), as received")
            }
        }
    }

    @Sendable private static func long(_ subject: ConformanceSubject) async throws {
        try await same(["/" + String(repeating: "long/", count: 6_000) + "?" + String(repeating: "q=1&", count: 7_500)], subject)
    }

    @Sendable private static func root(_ subject: ConformanceSubject) async throws {
        try await answering(with: .text("ok")) { server in
            for (given, sent) in [("", "/"), ("?a=b", "/?a=b")] {
                try await subject.expect(200, "ok", for: try server.request(.get, given), "“\(given)”")
                try demand(server.requests.last?.target, is: sent, "The target, as received")
            }
        }
    }
}
