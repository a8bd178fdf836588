/// Names an argument of a method in its descriptor, by position or by label.
public struct EndpointArgument: Sendable, Hashable, CustomStringConvertible {
    enum Reference: Sendable, Hashable {
        case position(Int)
        case label(String)
    }

    let reference: Reference

    /// The argument at a zero-based position; arguments left out by ``EndpointDescriptor/ignoring(_:)`` don't count.
    public static func argument(_ position: Int) -> EndpointArgument {
        EndpointArgument(reference: .position(position))
    }

    /// The argument of a label.
    public static func argument(_ label: String) -> EndpointArgument {
        EndpointArgument(reference: .label(label))
    }

    /// The position or the label.
    public var description: String {
        switch reference {
        case .position(let position): "\(position)"
        case .label(let label): label
        }
    }
}
