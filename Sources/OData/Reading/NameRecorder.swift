/// Which properties of an entity its decoding asked for: what is known of a type whose probe didn't tell.
final class NameRecorder {
    private(set) var names: Set<String> = []

    func note(_ name: String) { names.insert(name) }
}
