import Foundation
public import WebServiceClient

/// The result of one read of many: ``ODataClient/responses(to:_:)``.
public struct BatchResponse<Value: Sendable>: Sendable {
    /// The position of the read's element, from 0 on.
    public let index: Int
    /// The value, or the read's own error.
    public let result: Result<Value, ServiceError>

    /// The value.
    ///
    /// - Throws: The read's own error.
    public var value: Value {
        get throws { try result.get() }
    }
}

extension ODataClient {
    /// Reads many resources by batches, and returns each result while the answer arrives.
    ///
    ///     for try await user in client.responses(to: ids) { try await client.fetch(FetchRequest<User>().key($0)) } {
    ///         print(try user.value.name)
    ///     }
    ///
    /// Neither the requests nor the responses are in memory as a whole. The batches have up to ``BatchSettings/limit`` requests each, and
    /// one is sent after the other. Responses in JSON may come in any order.
    ///
    /// - Parameters:
    ///   - elements: The elements to read.
    ///   - read: Makes the read of an element, which is one call of this client. It runs twice per element, for the request and for the
    /// response, so it must have no other effects.
    public func responses<Elements: RandomAccessCollection & Sendable, Value: Sendable>(
        to elements: Elements, _ read: @escaping @Sendable (Elements.Element) async throws -> Value
    ) -> BatchResponses<Elements, Value> where Elements.Index: Sendable {
        BatchResponses(client: self, elements: elements, read: read)
    }
}

/// The results of many reads, which are sent in batches: ``ODataClient/responses(to:_:)``.
///
/// A batch that fails as a whole ends the sequence with its error. If an answer is cut, the reads without a response have errors, and the
/// sequence continues with the next batch.
public struct BatchResponses<Elements: RandomAccessCollection & Sendable, Value: Sendable>: AsyncSequence, Sendable
where Elements.Index: Sendable {
    /// A read's result.
    public typealias Element = BatchResponse<Value>

    let client: ODataClient
    let elements: Elements
    let read: @Sendable (Elements.Element) async throws -> Value

    /// Returns an iterator, which sends the first batch when its first element is requested.
    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// The element of a number, from 1 on.
    fileprivate func element(_ number: Int) -> Elements.Element {
        elements[elements.index(elements.startIndex, offsetBy: number - 1)]
    }

    /// Reads the results.
    public struct Iterator: AsyncIteratorProtocol {
        private let sequence: BatchResponses
        private let scope = BatchScope()
        private let identity: CallIdentity
        private let count: Int
        private var exchange: BatchExchange?
        /// The numbers of the current batch, and which of them have a result.
        private var numbers = 1...1
        private var isDone: [Bool] = []
        private var following = 1
        private var isOver = false

        fileprivate init(_ sequence: BatchResponses) {
            self.sequence = sequence
            identity = CallIdentity(client: String(describing: type(of: sequence.client)), key: "$batch", route: "$batch")
            count = sequence.elements.count
        }

        /// Returns the next result; `nil` after the last one.
        ///- Throws: `ServiceError` if a batch can't be written or fails as a whole, or if results that were already returned may belong to
        ///  other elements, because responses have no ids and their number isn't that of the requests; `CancellationError` when the task
        ///  was cancelled. After an error the sequence has ended.
        public mutating func next() async throws -> BatchResponse<Value>? {
            guard !isOver else { return nil }
            do {
                while true {
                    if let exchange {
                        if let (number, verdict) = try await exchange.next() { return try await response(number, verdict) }
                        self.exchange = nil
                    }
                    guard following <= count else {
                        isOver = true
                        return nil
                    }
                    try await begin()
                }
            } catch {
                isOver = true
                exchange = nil
                throw error
            }
        }

        private mutating func begin() async throws {
            let client = sequence.client
            let size = client.batching.limit.map { Swift.max(1, $0) } ?? count
            numbers = following...Swift.min(count, following - 1 + Swift.min(size, count))
            following = numbers.upperBound + 1
            isDone = Array(repeating: false, count: numbers.count)
            let form = try client.batchForm(HTTPFields())
            let writer = BatchWriter(isJSON: form.isJSON, statesLengths: form.statesLengths)
            let body = body(writer, form)
            let matcher = BatchMatcher(numbers: numbers, isJSON: form.isJSON, stops: false)
            exchange = try await client.exchange(body, writer, HTTPFields(), .proceed, isSafe: true, matcher)
        }

        /// Returns the body of the current batch, written while it is sent.
        private func body(_ writer: BatchWriter, _ form: BatchForm) -> RequestBody {
            let (sequence, numbers, scope, identity) = (sequence, numbers, scope, identity)
            return RequestBody(isReplayable: true, contentType: writer.contentType) {
                let state = Locked((writer: writer, next: numbers.lowerBound, isOver: false))
                return AsyncThrowingStream {
                    var (writer, next, isOver) = state.withLock { $0 }
                    if isOver { return nil }
                    var text = Data()
                    while next <= numbers.upperBound, text.count < 1 << 15 {
                        let request = try await Self.request(next, of: sequence, form, scope, identity)
                        text.append(try writer.unit([request]))
                        next += 1
                    }
                    isOver = next > numbers.upperBound
                    if isOver { text.append(writer.end()) }
                    state.withLock { [writer, next, isOver] in $0 = (writer, next, isOver) }
                    return text
                }
            }
        }

        private static func request(
            _ number: Int, of sequence: BatchResponses, _ form: BatchForm, _ scope: BatchScope, _ identity: CallIdentity
        ) async throws -> BatchRequest {
            let captured = try await BatchScope.$current.withValue(scope) {
                try await EnclosedCall.of(sequence.client) { _ in try await sequence.read(sequence.element(number)) }
            }
            guard let call = captured.call else {
                throw BatchPlan.refusal(identity, "the closure for element \(number - 1) makes no call of this client")
            }
            guard call.request.method == .get else {
                throw BatchPlan.refusal(call.identity, "the closure for element \(number - 1) must read: send changes with send(_:)")
            }
            return try form.request(call, number: number, group: nil)
        }

        private mutating func response(_ number: Int, _ verdict: BatchVerdict) async throws -> BatchResponse<Value> {
            let answering = BatchAnswering(client: sequence.client, identity: identity, scope: scope)
            guard numbers.contains(number), !isDone[number - numbers.lowerBound] else {
                // Without ids it is unknown which responses belong to other requests.
                if case .malformed(let reason) = verdict { throw answering.failure(.malformed(reason)) }
                throw answering.failure(.malformed("the answer has two responses to one request"))
            }
            isDone[number - numbers.lowerBound] = true
            let sequence = sequence
            let result = try await answering.result(verdict) { _ in try await sequence.read(sequence.element(number)) }
            return BatchResponse(index: number - 1, result: result)
        }
    }
}
