import Foundation
import WebServiceClient

/// An answer of a ``MockServer`` for an endpoint.
public struct MockAnswer: Sendable {
    /// The input of an answer.
    struct Setting: Sendable {
        /// The seed of samples, the same for equal requests.
        let seed: UInt64
        /// The wire names that lead to the value inside the payload.
        let root: [String]
    }

    let respond: @Sendable (LoopbackRequest, Setting) throws -> LoopbackResponse

    init(respond: @escaping @Sendable (LoopbackRequest, Setting) throws -> LoopbackResponse) {
        self.respond = respond
    }

    /// Makes an answer from a closure, which runs on the connection's thread and may block.
    public init(_ respond: @escaping @Sendable (LoopbackRequest) throws -> LoopbackResponse) {
        self.init { request, _ in try respond(request) }
    }

    /// Returns an answer with a response of the loopback server, sent unchanged.
    public static func response(_ response: LoopbackResponse) -> MockAnswer { MockAnswer { _ in response } }

    /// Returns an answer with JSON text, sent unchanged.
    public static func json(_ text: String, status: Int = 200) -> MockAnswer { .response(.json(text, status: status)) }

    /// Returns an answer without a body.
    public static func status(_ status: Int) -> MockAnswer { .response(.status(status)) }

    /// Returns an answer with a value as JSON, at the place in the payload that the endpoint's `decoding(at:)` names.
    ///
    /// - Throws: The errors of `JSONEncoder`.
    public static func value(_ value: some Encodable, status: Int = 200) throws -> MockAnswer {
        let json = try JSONReader().decode(JSONValue.self, from: JSONEncoder().encode(value))
        return MockAnswer(respond: { _, setting in try Self.response(json, setting, status) })
    }

    /// Returns an answer with a ``Sample`` of a type as JSON. Equal requests get equal samples, in each run.
    public static func sample<Value: Decodable & Sendable>(of type: Value.Type = Value.self, status: Int = 200) -> MockAnswer {
        MockAnswer(respond: { _, setting in try Self.response(Sample(of: Value.self, seed: setting.seed).json, setting, status) })
    }

    /// Returns an answer with a number of samples in an array.
    public static func samples<Element: Decodable & Sendable>(
        of type: [Element].Type = [Element].self, count: Int, status: Int = 200
    ) -> MockAnswer {
        MockAnswer(respond: { _, setting in
            let elements = try (0..<max(0, count)).map { index in
                try Sample(of: Element.self, seed: setting.seed &+ UInt64(index)).json
            }
            return try Self.response(.array(elements), setting, status)
        })
    }

    /// Returns an answer that gives one answer per request, in order; the last one repeats. A request that fails with a status, or without
    /// any response, doesn't use up an answer.
    public static func inTurn(_ answers: MockAnswer...) -> MockAnswer {
        let turns = Turns(answers)
        return MockAnswer(respond: { request, setting in
            guard let answer = turns.next() else { throw TestingFailure("The list of answers to \(request.path) is empty") }
            return try answer.respond(request, setting)
        })
    }

    private static func response(_ value: JSONValue, _ setting: Setting, _ status: Int) throws -> LoopbackResponse {
        var payload = value
        for name in setting.root.reversed() { payload = .object(JSONValue.Members([(name, payload)])) }
        return .json(try payload.json(), status: status)
    }
}

/// An answer with the type of a method's result, so that an answer of another type doesn't compile. See ``MockServer/answer(_:on:with:)``.
public struct TypedMockAnswer<Value>: Sendable {
    let answer: MockAnswer

    /// Returns an answer with any response of the loopback server, sent unchanged, such as an error.
    public static func response(_ response: LoopbackResponse) -> TypedMockAnswer { TypedMockAnswer(answer: .response(response)) }

    /// Returns an answer that gives one answer per request, in order; the last one repeats.
    public static func inTurn(_ answers: TypedMockAnswer...) -> TypedMockAnswer {
        let turns = Turns(answers)
        return TypedMockAnswer(
            answer: MockAnswer(respond: { request, setting in
                guard let answer = turns.next() else { throw TestingFailure("The list of answers to \(request.path) is empty") }
                return try answer.answer.respond(request, setting)
            }))
    }
}

extension TypedMockAnswer where Value: Encodable {
    /// Returns an answer with a value as JSON.
    ///
    /// - Throws: The errors of `JSONEncoder`.
    public static func value(_ value: Value, status: Int = 200) throws -> TypedMockAnswer {
        TypedMockAnswer(answer: try .value(value, status: status))
    }
}

extension TypedMockAnswer where Value: Decodable & Sendable {
    /// Returns an answer with a ``Sample`` of the type. Equal requests get equal samples, in each run.
    public static func sample(status: Int = 200) -> TypedMockAnswer {
        TypedMockAnswer(answer: .sample(of: Value.self, status: status))
    }

    /// Returns an answer with a number of samples in an array.
    public static func samples<Element: Decodable & Sendable>(count: Int, status: Int = 200) -> TypedMockAnswer where Value == [Element] {
        TypedMockAnswer(answer: .samples(of: Value.self, count: count, status: status))
    }
}

extension TypedMockAnswer where Value == Void {
    /// Returns an answer without a body.
    public static func status(_ status: Int) -> TypedMockAnswer { TypedMockAnswer(answer: .status(status)) }
}
