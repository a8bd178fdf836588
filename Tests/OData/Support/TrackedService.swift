import Foundation
import OData
import TestSupport
import WebServiceClient
import WebServiceTesting

/// A service with one entity set whose changes are tracked by a log. Its pages are small, some are empty, removed entities have all
/// spellings, and it forgets old states.
final class TrackedService: Sendable {
    private enum Logged: Sendable {
        case changed(String)
        case removed(Int)
    }

    private struct Row: Sendable {
        var name: String
        var note: String?
        var tags: [Int: String]
    }

    private struct State: Sendable {
        var random: SeededGenerator
        var rows: [Int: Row] = [:]
        var log: [Logged] = []
        /// The oldest state that is known.
        var horizon = 0
        /// The requests until the rows change during a read.
        var interruptions = 0
        var nextID = 1
        /// Keeps the links of empty pages apart.
        var serial = 0
    }

    private let state: Locked<State>

    init(seed: UInt64) { state = Locked(State(random: SeededGenerator(seed: seed))) }

    /// The rows as the client should have them.
    var rows: [String] {
        state.withLock { state in state.rows.keys.sorted().map { Self.whole($0, state.rows[$0]) } }
    }

    var answer: StubAnswer { .answering { [self] request in answer(to: request.request.url.query() ?? "") } }

    // MARK: Changes

    /// Makes some random changes, and sets after how many requests others happen.
    func change(interruptions: Int = 0) {
        state.withLock { state in
            for _ in 0..<Int.random(in: 0...6, using: &state.random) { Self.changeOne(&state) }
            if Int.random(in: 0..<6, using: &state.random) == 0 { state.horizon = state.log.count }
            state.interruptions = interruptions
        }
    }

    private static func changeOne(_ state: inout State) {
        let known = state.rows.keys.sorted().randomElement(using: &state.random)
        func text() -> String { ["a", "ä\"", "", "null"].randomElement(using: &state.random) ?? "" }
        switch Int.random(in: 0..<8, using: &state.random) {
        case 0...2:
            // A removed entity may come back with its key.
            let id = Bool.random(using: &state.random) ? state.nextID : Int.random(in: 1...state.nextID, using: &state.random)
            guard state.rows[id] == nil else { return }
            state.nextID = max(state.nextID, id + 1)
            let row = Row(name: text(), note: nil, tags: [1: text()])
            state.rows[id] = row
            state.log.append(.changed(whole(id, row)))
        case 3:
            guard let id = known else { return }
            state.rows[id] = nil
            state.log.append(.removed(id))
        case 4:
            // An entity that was created and removed between two reads.
            state.log.append(.removed(state.nextID))
            state.nextID += 1
        case 5:
            guard let id = known else { return }
            let note: String? = Bool.random(using: &state.random) ? text() : nil
            state.rows[id]?.note = note
            state.log.append(.changed(#"{"id":\#(id),"note":\#(json(note))}"#))
        case 6:
            guard let id = known else { return }
            let (tag, label) = (Int.random(in: 1...3, using: &state.random), text())
            if state.rows[id]?.tags[tag] != nil, Bool.random(using: &state.random) {
                state.rows[id]?.tags[tag] = nil
                state.log.append(.changed(#"{"id":\#(id),"tags@delta":[{"@removed":{"reason":"changed"},"id":\#(tag)}]}"#))
            } else {
                state.rows[id]?.tags[tag] = label
                state.log.append(.changed(#"{"id":\#(id),"tags@delta":[{"id":\#(tag),"label":\#(json(label))}]}"#))
            }
        default:
            guard let id = known, let row = state.rows[id] else { return }
            state.log.append(.changed(whole(id, row)))
        }
    }

    private static func json(_ text: String?) -> String {
        text.map { "\"\($0.replacing("\"", with: "\\\""))\"" } ?? "null"
    }

    private static func whole(_ id: Int, _ row: Row?) -> String {
        guard let row else { return "" }
        let tags = row.tags.keys.sorted().map { #"{"id":\#($0),"label":\#(json(row.tags[$0]))}"# }.joined(separator: ",")
        return #"{"id":\#(id),"name":\#(json(row.name)),"note":\#(json(row.note)),"tags":[\#(tags)]}"#
    }

    // MARK: Answers

    /// A read begins without a token; `r<start>-<last id>-<serial>` continues it; `d<from>` asks for changes; `d<from>-<to>-<serial>`
    /// continues these.
    private func answer(to query: String) -> StubAnswer {
        state.withLock { state in
            if state.interruptions > 0 {
                state.interruptions -= 1
                Self.changeOne(&state)
            }
            let token = query.split(separator: "=").last.map(String.init) ?? ""
            let numbers = token.dropFirst().split(separator: "-").compactMap { Int($0) }
            let size = Int.random(in: 0...3, using: &state.random)
            state.serial += 1
            guard let from = numbers.first else { return Self.read(&state, from: state.log.count, after: 0, size) }
            if from < state.horizon { return Self.forgotten(&state) }
            guard token.hasPrefix("d") else { return Self.read(&state, from: from, after: numbers.count > 1 ? numbers[1] : 0, size) }
            let end = numbers.count > 1 ? numbers[1] : state.log.count
            let next = min(from + size, end)
            let entries = state.log[from..<next].map { Self.entry($0, &state.random) }
            // The state that a page continues from moves with it, as long as the changes last.
            return Self.page(entries, next < end ? "nextLink" : "deltaLink", next < end ? "d\(next)-\(end)-\(state.serial)" : "d\(end)")
        }
    }

    private static func read(_ state: inout State, from start: Int, after last: Int, _ size: Int) -> StubAnswer {
        let rest = state.rows.keys.sorted().filter { $0 > last }
        let entries = rest.prefix(size).map { whole($0, state.rows[$0]) }
        guard rest.count > size else { return page(entries, "deltaLink", "d\(start)") }
        return page(entries, "nextLink", "r\(start)-\(rest.prefix(size).last ?? last)-\(state.serial)")
    }

    private static func forgotten(_ state: inout State) -> StubAnswer {
        let code = #"{"error":{"code":"syncStateNotFound","message":"m"}}"#
        switch Int.random(in: 0..<3, using: &state.random) {
        case 0: return .status(410)
        case 1: return .json(code, status: 410)
        default: return .json(code, status: 400)
        }
    }

    private static func entry(_ logged: Logged, _ random: inout SeededGenerator) -> String {
        guard case .removed(let id) = logged else {
            if case .changed(let text) = logged { return text }
            return ""
        }
        let spellings = [
            #"{"@removed":{"reason":"deleted"},"id":\#(id)}"#, #"{"@odata.removed":{"reason":"changed"},"@odata.id":"Things(\#(id))"}"#,
            #"{"@odata.context":"$metadata#Things/$deletedEntity","id":"https://h.example/svc/Things(\#(id))","reason":"deleted"}"#,
            #"{"@odata.context":"$metadata#Things/$deletedEntity","@odata.id":"Things(id=\#(id))"}"#,
            #"{"id":\#(id),"deleted":{"state":"deleted"}}"#,
        ]
        return spellings.randomElement(using: &random) ?? ""
    }

    private static func page(_ entries: [String], _ link: String, _ token: String) -> StubAnswer {
        .json(
            #"{"@odata.context":"$metadata#Things/$delta","value":[\#(entries.joined(separator: ","))],"#
                + #""@odata.\#(link)":"Things?$\#(link == "nextLink" ? "skip" : "delta")token=\#(token)"}"#)
    }
}
