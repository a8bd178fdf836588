import Foundation
import Testing

@testable import WebServiceClient

/// The published examples of RFC 6570, read from the folder `conformance/uri-template` of the shared data. Reported as skipped if the
/// variable `SHARED_DIRECTORY` isn't set; only `URITemplateTests` then cover the template.
@Suite struct URITemplateConformanceTests {
    private static let folder = ProcessInfo.processInfo.environment["SHARED_DIRECTORY"].map { $0 + "/conformance/uri-template" }

    private static let files: [String] = {
        guard let folder, let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else { return [] }
        return names.filter { $0.hasSuffix(".json") }.sorted().map { folder + "/" + $0 }
    }()

    @Test(.enabled(if: !files.isEmpty, "SHARED_DIRECTORY names no folder with conformance/uri-template"))
    func `Every published example expands to one of its expansions`() throws {
        var count = 0
        for file in Self.files {
            let groups = try JSONDecoder().decode([String: Group].self, from: Data(contentsOf: URL(fileURLWithPath: file)))
            for (name, group) in groups {
                let values = group.variables.mapValues(\.value)
                for example in group.testcases {
                    count += 1
                    switch example.expected {
                    case .anyOf(let expansions):
                        let expanded = try URITemplate(example.template).expand(values)
                        #expect(expansions.contains(expanded), "\(name): \(example.template) gave \(expanded)")
                    case .failure:
                        #expect(throws: (any Error).self, "\(name): \(example.template)") {
                            try URITemplate(example.template).expand(values)
                        }
                    }
                }
            }
        }
        #expect(count > 100)
    }
}

private struct Group: Decodable {
    let variables: [String: Variable]
    let testcases: [Example]
}

private struct Example: Decodable {
    enum Expected {
        case anyOf([String])
        case failure
    }

    let template: String
    let expected: Expected

    init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        template = try container.decode(String.self)
        if let expansion = try? container.decode(String.self) {
            expected = .anyOf([expansion])
        } else if (try? container.decode(Bool.self)) == false {
            expected = .failure
        } else {
            expected = .anyOf(try container.decode([String].self))
        }
    }
}

private struct Variable: Decodable {
    let value: URITemplate.Value

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            value = .undefined
        } else if let text = try? container.decode(String.self) {
            value = .string(text)
        } else if let members = try? container.decode([String].self) {
            value = .list(members)
        } else {
            let pairs = try container.decode([String: String].self)
            value = .associative(pairs.sorted { $0.key < $1.key }.map { URITemplate.Pair($0.key, $0.value) })
        }
    }
}
