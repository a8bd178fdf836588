/// Makes a ``ServiceError`` of whatever went wrong: the one place that knows which error means which kind.
struct ErrorWrapper {
    let call: CallIdentity
    let request: ServiceRequest?
    var response: ResponseSummary?
    /// What is secret in the request, also where there is none yet.
    var secrets: RequestSecrets?

    /// The error as the call throws it. Cancellation of the task and a dry run's end pass as they are.
    func wrap(_ error: any Error, stage: ServiceError.Stage) -> any Error {
        switch error {
        case let error as ServiceError: return error
        case is DryRun.Stop: return error
        case is CancellationError where Task.isCancelled: return error
        default: break
        }
        if Task.isCancelled { return CancellationError() }
        let (kind, precise) = classify(error, stage: stage)
        var result = ServiceError(
            call: call, stage: precise, kind: kind, message: ServiceError.text(of: error), request: request.map(RequestSummary.init),
            response: response, cause: (error as? RequestBodyError)?.underlying ?? error)
        result.hide(secrets)
        return result
    }

    private func classify(_ error: any Error, stage: ServiceError.Stage) -> (ServiceError.Kind, ServiceError.Stage) {
        switch error {
        case let error as TransportError: (error.isTimeout ? .timeout : .transport, stage == .body ? .body : .transport)
        case is RedirectError: (.redirect, .chain)
        case is ArgumentError: (.argument, stage)
        case is BodyEncodingError: (.encoding, .binding)
        case is InvalidRequest: (.request, stage)
        case is RequestBodyError: (.encoding, .transport)
        case is ResponseBodyTooLarge: (.bodyTooLarge, .body)
        case is AuthenticationError: (.authentication, .chain)
        default: (stage == .binding ? .request : .interceptor, stage)
        }
    }
}
