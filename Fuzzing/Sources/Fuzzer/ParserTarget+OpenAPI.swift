import Foundation
import WebServiceClient

extension ParserTarget {
    private final class Documented: WebServiceClient, @unchecked Sendable {}

    /// Reads an OpenAPI document. Its profile is free of faults, and its root is one that a client can use.
    func checkDocument(_ data: Data) {
        let url = URL(string: "https://api.test/docs/openapi.json")
        guard let profile = try? ServiceProfile(openAPI: data, from: url) else { return }
        let client = Documented(profile: profile)
        let faults = client.verify()
        check(faults.isEmpty, "a profile has faults: \(faults.first?.description ?? "")")
        for key in profile.endpoints.keys {
            check((try? MethodName(key)) != nil, "\(key.debugDescription) isn't a key")
        }
        check(profile.notes.allSatisfy { !$0.isEmpty }, "a note is empty")
    }
}
