import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The same calls as careful code without the library: encoded values, headers, a status check, and one shared decoder.
public struct CallsByHand: Sendable {
    /// The response wasn't a success.
    public struct UnexpectedStatus: Error {
        let status: Int
    }

    /// The service root isn't a URL.
    public struct BadURL: Error {}

    private let engine: Engine
    private let root = "https://api.example.com/v1"
    private let decoder = JSONDecoder()
    private let allowed: CharacterSet

    /// Creates the calls on an engine.
    public init(_ engine: Engine) {
        self.engine = engine
        var allowed = CharacterSet.urlPathAllowed
        allowed.remove("/")
        self.allowed = allowed
    }

    /// A call with a body of 2 kB.
    public func repository(owner: String, name: String) async throws -> Repository {
        try await get("\(root)/repos/\(encoded(owner))/\(encoded(name))")
    }

    /// A call with a body of 60 bytes.
    public func health(service: String) async throws -> Health {
        try await get("\(root)/health/\(encoded(service))")
    }

    /// ``health(service:)`` without encoding of values.
    public func carelessHealth(service: String) async throws -> Health {
        try await get("\(root)/health/\(service)")
    }

    /// ``repository(owner:name:)`` without encoding of values.
    public func carelessRepository(owner: String, name: String) async throws -> Repository {
        try await get("\(root)/repos/\(owner)/\(name)")
    }

    private func encoded(_ value: String) throws -> String {
        guard let text = value.addingPercentEncoding(withAllowedCharacters: allowed) else { throw BadURL() }
        return text
    }

    private func get<Value: Decodable>(_ text: String) async throws -> Value {
        guard let url = URL(string: text) else { throw BadURL() }
        var request = URLRequest(url: url)
        request.httpMethod = "GET"
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        request.setValue("WebServiceClient", forHTTPHeaderField: "User-Agent")
        request.setValue("benchmark", forHTTPHeaderField: "X-Client")
        guard let target = request.url else { throw BadURL() }
        let answer = try await engine.exchange(target)
        guard (200..<300).contains(answer.status) else { throw UnexpectedStatus(status: answer.status) }
        return try decoder.decode(Value.self, from: answer.body)
    }
}
