import Foundation

/// Throws a failure with that sentence unless the condition holds.
func demand(_ condition: Bool, _ sentence: @autoclosure () -> String) throws {
    guard condition else { throw TestingFailure(sentence()) }
}

/// Throws a failure that shows both values unless they are equal.
func demand<Value: Equatable>(_ found: Value, is expected: Value, _ what: @autoclosure () -> String) throws {
    guard found != expected else { return }
    throw TestingFailure("\(what()): expected \(shortened(expected)), found \(shortened(found))")
}

/// Throws a failure that tells where bytes differ from those that were expected.
func demand(_ found: Data, is expected: Data, _ what: @autoclosure () -> String) throws {
    guard found != expected else { return }
    let place = zip(found, expected).enumerated().first { $0.element.0 != $0.element.1 }?.offset ?? min(found.count, expected.count)
    var sentence = "\(what()): expected \(expected.count) bytes, found \(found.count); they differ at byte \(place)"
    if expected.count <= 200, found.count <= 200 {
        sentence += " (expected “\(String(decoding: expected, as: UTF8.self))”, found “\(String(decoding: found, as: UTF8.self))”)"
    }
    throw TestingFailure(sentence)
}

private func shortened(_ value: some Any) -> String {
    let text = "“\(value)”"
    return text.count <= 300 ? text : "\(text.prefix(300))… (\(text.count) characters)"
}
