import Foundation
import WebServiceClient

/// A token with the cookies of the session that it belongs to.
struct CSRFToken: Sendable, Equatable {
    static let header: HTTPFields.Name = "X-CSRF-Token"

    let value: String
    let cookies: [String]

    func added(to request: ServiceRequest) -> ServiceRequest {
        var request = request
        request.headers[Self.header] = value
        if !cookies.isEmpty {
            request.headers[.cookie] = ([request.headers[.cookie]].compactMap(\.self) + cookies).joined(separator: "; ")
        }
        return request
    }
}

extension CSRFToken: CustomStringConvertible, CustomReflectable {
    /// Never the token itself.
    var description: String { "a CSRF token" }

    /// Shows nothing.
    var customMirror: Mirror { Mirror(self, children: []) }
}

/// The token that is there or on its way: one call fetches it, and the others wait.
final class CSRFSession: Sendable {
    private enum State {
        case none
        case fetching(waiting: [Int: CheckedContinuation<CSRFToken?, any Error>])
        case token(CSRFToken)
    }

    private enum Turn {
        case found(CSRFToken)
        case fetch
        case wait
    }

    private let state = Locked(State.none)
    private let numbers = Locked(0)

    /// The token; fetched by whoever comes first. A failure is everybody's; that the one who fetches gives up is not.
    func token(_ fetch: () async throws -> CSRFToken) async throws -> CSRFToken {
        while true {
            try Task.checkCancellation()
            let turn: Turn = state.withLock { state in
                switch state {
                case .token(let token): return .found(token)
                case .fetching: return .wait
                case .none:
                    state = .fetching(waiting: [:])
                    return .fetch
                }
            }
            switch turn {
            case .found(let token): return token
            case .wait: if let token = try await waited() { return token }
            case .fetch:
                do {
                    let token = try await fetch()
                    finish(.token(token)) { $0.resume(returning: token) }
                    return token
                } catch {
                    let isOwn = error is CancellationError || Task.isCancelled
                    finish(.none) { isOwn ? $0.resume(returning: nil) : $0.resume(throwing: error) }
                    throw error
                }
            }
        }
    }

    /// Throws a token away that the service doesn't take any more, unless a new one is there already.
    func discard(_ token: CSRFToken) {
        state.withLock { state in
            if case .token(token) = state { state = .none }
        }
    }

    private func finish(_ result: State, _ resume: (CheckedContinuation<CSRFToken?, any Error>) -> Void) {
        let waiting = state.withLock { state in
            defer { state = result }
            if case .fetching(let waiting) = state { return Array(waiting.values) }
            return []
        }
        for continuation in waiting { resume(continuation) }
    }

    /// What the one who fetches got; `nil` where it has to be tried again, or this task was cancelled.
    private func waited() async throws -> CSRFToken? {
        let number = numbers.withLock { number in
            number += 1
            return number
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isWaiting = state.withLock { state in
                    guard !Task.isCancelled, case .fetching(var waiting) = state else { return false }
                    waiting[number] = continuation
                    state = .fetching(waiting: waiting)
                    return true
                }
                if !isWaiting { continuation.resume(returning: nil) }
            }
        } onCancel: {
            let continuation = state.withLock { state -> CheckedContinuation<CSRFToken?, any Error>? in
                guard case .fetching(var waiting) = state else { return nil }
                let continuation = waiting.removeValue(forKey: number)
                state = .fetching(waiting: waiting)
                return continuation
            }
            continuation?.resume(returning: nil)
        }
    }
}
