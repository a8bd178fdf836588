import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

private final class Described: WebServiceClient, @unchecked Sendable {}

/// Real documents, in the folder that `SHARED_DIRECTORY` names.
@Suite struct OpenAPIConformanceTests {
    private static let folder = ProcessInfo.processInfo.environment["SHARED_DIRECTORY"].map { URL(filePath: $0 + "/conformance/openapi") }

    private static var documents: [URL] {
        guard let folder, let files = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) else {
            return []
        }
        return files.filter { $0.pathExtension == "json" }.sorted { $0.lastPathComponent < $1.lastPathComponent }
    }

    /// The number of operations in a document, counted by Foundation's parser.
    private static func operations(in data: Data) throws -> Int {
        let methods: Set<String> = ["get", "put", "post", "delete", "options", "head", "patch", "trace"]
        let root = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let paths = root["paths"] as? [String: [String: Any]] ?? [:]
        return paths.values.reduce(0) { $0 + $1.keys.count { methods.contains($0) } }
    }

    @Test(.enabled("SHARED_DIRECTORY names no folder with documents") { !documents.isEmpty })
    func `Nearly all operations can be called`() async throws {
        var (count, called) = (0, 0)
        var failures: [String] = []
        for file in Self.documents {
            let data = try Data(contentsOf: file)
            let total = try Self.operations(in: data)
            let profile = try ServiceProfile(openAPI: data, from: URL(string: "https://api.test/openapi.json"))
            let client = Described(profile: profile) {
                $0.transport = StubTransport()
                $0.allowedOrigins = ["https://uploads.github.com"]
                for scheme in profile.securitySchemes { $0.credentials[scheme.name] = .key("key") }
                if profile.securitySchemes.contains(where: { $0.kind == .http(scheme: "basic") }) {
                    for scheme in profile.securitySchemes where scheme.kind == .http(scheme: "basic") {
                        $0.credentials[scheme.name] = .basic(user: "ada", password: "pw")
                    }
                }
            }
            #expect(client.verify() == [], "\(file.lastPathComponent)")
            count += total
            for (number, endpoint) in client.state.table.keys.enumerated() {
                let name = try MethodName(endpoint)
                let descriptor = try #require(profile.endpoints[endpoint])
                let required = name.labels.filter { descriptor.optional?.contains($0) == false }
                // Once with what is required, and some with all arguments.
                let all = number.isMultiple(of: Sweep.isFull ? 1 : 8) ? [name.labels.filter { $0 != "as" }] : []
                for labels in [required] + all {
                    let values = Dictionary(uniqueKeysWithValues: labels.map { ($0, Self.value(for: $0)) })
                    do {
                        let request = try await client.dryRun { try await $0.dynamic[name.baseName](values) }
                        #expect(request.method == descriptor.method)
                        if labels == required { called += 1 }
                    } catch {
                        failures.append("\(file.lastPathComponent) \(endpoint): \(error)")
                    }
                }
            }
        }
        #expect(Double(called) >= 0.97 * Double(count), "\(called) of \(count): \(failures.prefix(10))")
        #expect(failures.isEmpty, "\(failures.prefix(10))")
    }

    private static func value(for label: String) -> (any Sendable)? {
        label == "body" ? Data("{}".utf8) : "a b"
    }

    @Test(.enabled("SHARED_DIRECTORY names no folder with documents") { !documents.isEmpty })
    func `GitHub's document is read as it is`() async throws {
        let file = try #require(Self.documents.first { $0.lastPathComponent.hasPrefix("github") })
        let profile = try ServiceProfile(openAPI: Data(contentsOf: file))
        #expect(profile.baseURL == "https://api.github.com" && profile.endpoints.keys.count == 767)
        let client = Described(profile: profile) { $0.transport = StubTransport() }
        let request = try await client.dryRun {
            let _: JSONValue = try await $0.dynamic.issuesListForRepo(owner: "swiftlang", repo: "swift", labels: "bug", page: 2)
        }
        #expect(request.url.absoluteString == "https://api.github.com/repos/swiftlang/swift/issues?labels=bug&page=2")
        let same = try await client.dryRun {
            let _: JSONValue = try await $0.dynamic["issues/list-for-repo"](["owner": "swiftlang", "repo": "swift", "per_page": 5])
        }
        #expect(same.url.absoluteString == "https://api.github.com/repos/swiftlang/swift/issues?per_page=5")
    }
}
