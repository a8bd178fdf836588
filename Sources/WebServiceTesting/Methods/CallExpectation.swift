import Foundation
public import WebServiceClient

/// Expects that a method calls the table with the method's own key, and passes its arguments in their order.
///
///     try await expectCall(GitHub.repository(owner:name:), on: github)
///     try await expectCall(GitHub.createIssue(owner:name:issue:), on: github, giving: IssueDraft(title: "A title"))
///
/// The method runs in a dry run: nothing is sent. Its arguments are samples that contain their positions, such as `sample0`, 101, or a
/// `Decodable` value made of these; the request must be the same as the endpoint's request for these samples. Two arguments of the type
/// `Bool`, or of an enumeration with few cases, may have the same sample, so an exchange of these isn't found.
///
/// A method that changes its arguments intentionally can't be checked, and neither can one with a parameter that is a function with `inout`
/// parameters, which Swift 6.3 can't compile here.
///
/// - Parameters:
///   - method: The method, not applied to a client.
///   - client: The client that makes the call. Its preparers, interceptors and authentication providers run.
///   - samples: Arguments of types whose values can't be invented, such as enumerations without a list of cases and types that aren't
/// `Decodable`. Each becomes the first argument of its type that has none.
/// - Throws: ``TestingFailure`` that shows the two requests, or the error of the call.
public func expectCall<Client: WebServiceClient, each Argument: Sendable, Result>(
    _ method: @escaping @Sendable (Client) -> @Sendable (repeat each Argument) async throws -> Result, on client: Client,
    giving samples: any Sendable...
) async throws {
    var maker = CallSamples(samples)
    let arguments = (repeat try maker.next((each Argument).self))
    if let left = maker.given.first {
        throw TestingFailure("\(Client.self): the sample \(type(of: left)) fits no argument, or one that has a sample already")
    }
    var values: [(any Sendable)?] = []
    repeat values.append(each arguments)
    let found: ServiceRequest
    do {
        found = try await client.dryRun { client in
            try await CheckedCall.begin(try await method(client)(repeat each arguments))
        }
    } catch {
        throw TestingFailure("\(Client.self): the call can't be made: \(error)")
    }
    try await CheckedCall(client: client, values: values).expect(found, Result.self)
}

/// A call that is made with samples by the method, and again by its key.
private struct CheckedCall<Client: WebServiceClient> {
    let client: Client
    let values: [(any Sendable)?]

    func expect<Result>(_ found: ServiceRequest, _ result: Result.Type) async throws {
        let uses = type(of: client).endpointUses()
        guard let key = found.identity?.key, let use = uses.first(where: { $0.key.description == key }) else {
            throw TestingFailure("\(Client.self): the method makes a call without a key of the table: \(found.identity?.key ?? "none")")
        }
        guard use.key.arity == values.count else {
            throw TestingFailure(
                "\(Client.self): the method has \(values.count) arguments, but it calls \"\(key)\", which has \(use.key.arity)")
        }
        let passed = use.passed.map { values[$0] }
        let expected = try await request(key, passed, result)
        // Parts that differ between two equal calls, such as the boundary of a multipart body, aren't compared.
        let again = try await request(key, passed, result)
        let differences = Self.differences(found, expected, again)
        guard differences.isEmpty else {
            throw TestingFailure(
                "\(key): the call's arguments aren't those of the method; pass all of them to call(…), unchanged and in their order"
                    + differences.map { "\n  - \($0)" }.joined())
        }
    }

    private func request<Result>(_ key: String, _ arguments: [(any Sendable)?], _ result: Result.Type) async throws -> ServiceRequest {
        do {
            return try await client.dryRun { client in
                guard let type = result as? any Decodable.Type else { return try await client.send(key, arguments) }
                try await Self.call(client, key, arguments, type)
            }
        } catch {
            throw TestingFailure("\(Client.self): the endpoint \"\(key)\" can't be called with samples: \(error)")
        }
    }

    private static func call<Value: Decodable>(
        _ client: Client, _ key: String, _ arguments: [(any Sendable)?], _ type: Value.Type
    ) async throws {
        try await CheckedCall<WebServiceClient>.begin(try await client.value(type, of: key, arguments))
    }

    private static func differences(_ found: ServiceRequest, _ expected: ServiceRequest, _ again: ServiceRequest) -> [String] {
        var differences: [String] = []
        if found.method != expected.method { differences.append("found the method \(found.method), expected \(expected.method)") }
        if found.url != expected.url, expected.url == again.url {
            differences.append("found \(SecretMask.text(of: found.url)), expected \(SecretMask.text(of: expected.url))")
        }
        var names: [HTTPFields.Name] = []
        for field in Array(found.headers) + Array(expected.headers) where !names.contains(field.name) { names.append(field.name) }
        for name in names {
            let (own, other) = (found.headers[name], expected.headers[name])
            // The result determines the accepted media types, and a method may convert it.
            let isOfResult = name == .accept && !"\(own ?? "")\(other ?? "")".contains("sample")
            guard own != other, other == again.headers[name], !isOfResult else { continue }
            let text = { (value: String?) in
                value.map { SecretMask.recordedText(of: HTTPFields.Field(name: name, value: $0)) } ?? "none"
            }
            differences.append("found \(name): \(text(own)), expected \(text(other))")
        }
        let (own, other) = (found.body?.data, expected.body?.data)
        if own != other, other == again.body?.data {
            let text = { (data: Data?) in data.map { "“\(BodyMask.excerpt(String(decoding: $0, as: UTF8.self)))”" } ?? "none" }
            differences.append("found the body \(text(own)), expected \(text(other))")
        }
        return differences
    }
}

extension CheckedCall where Client == WebServiceClient {
    /// Reads the beginning of pages, which send their first request then.
    static func begin<Result>(_ result: Result) async throws {
        guard let sequence = result as? any AsyncSequence else { return }
        try await first(of: sequence)
    }

    private static func first<Values: AsyncSequence>(of values: Values) async throws {
        for try await _ in values { return }
    }
}
